// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Let this process only resolve names from now on: read files, talk to name servers, write to open
 * descriptors, and exit. Any other system call fails with EPERM. So an attacker who takes the
 * process over by an answer of a name server cannot start a program, change a file or signal a
 * process. It cannot be undone.
 *
 * Nothing happens if the kernel has no seccomp (gVisor has its own), and in programs of the GNU C
 * library, whose resolver may load any module.
 */
void confine_to_lookups(void);
