// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Restrict this process to what name resolution needs: reading files, sockets, writing to open descriptors,
 * and exiting. Any other system call fails with EPERM. So if an attacker takes the process over by an answer
 * of a name server, the process cannot start a program, change a file or signal a process. The restriction
 * cannot be undone.
 *
 * Does nothing if the kernel has no seccomp (gVisor has its own), and in programs that use the GNU C library,
 * whose resolver may load any module.
 */
void confine_to_lookups(void);
