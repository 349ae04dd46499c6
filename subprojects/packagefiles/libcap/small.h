/*
 * Included before every file of libcap: what of it costs an ordinary start of distinit, which uses nothing of all this.
 */
#include <stdio.h>

/*
 * _libcap_initialize() runs before main(), and looks for the kernel's last capability by seven system calls. What distinit uses of the
 * library does without (src/priv/capability.c).
 */
#define constructor(priority) unused

/* Numbers for capabilities that have no name: distinit writes them itself, without printf(), which is 14 KiB. */
#define asprintf(to, ...) (*(to) = NULL, -1)
