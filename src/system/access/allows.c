// SPDX-License-Identifier: Apache-2.0

/** access_allows(): by faccessat2(), and on older kernels by the file's mode. */

#include "access/access.h"
#include "priv/capability.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_dac_override(void) {
	struct cap_sets caps;
	uint64_t known;
	struct err ignored;
	return caps_read(&caps, &known, &ignored) == 0 && (caps.effective & CAP_BIT(CAP_DAC_OVERRIDE));
}

static bool is_member(gid_t group) {
	gid_t groups[256];
	const int n = getgroups((int)(sizeof(groups) / sizeof(groups[0])), groups);
	for (int i = 0; i < n; i++) {
		if (groups[i] == group) {
			return true;
		}
	}
	// With an invalid id, setfsgid() changes nothing and returns the current gid.
	return (gid_t)setfsgid((gid_t)-1) == group;
}

/** Whether the mode of @info allows @how. Ignores access control lists. */
static bool mode_allows(const struct stat *info, unsigned how) {
	if (has_dac_override()) {
		return !(how & X_OK) || S_ISDIR(info->st_mode) || (info->st_mode & 0111);
	}
	unsigned shift = (uid_t)setfsuid((uid_t)-1) == info->st_uid ? 6 : is_member(info->st_gid) ? 3 : 0;
	return (info->st_mode >> shift & how) == how;
}

int access_allows(const char *path, int how) {
	struct stat info;
	if (syscall(SYS_faccessat2, AT_FDCWD, path, how, AT_EACCESS) == 0) {
		return 0;
	}
	// Linux before 5.8 lacks this call (ENOSYS). Old seccomp filters of container engines refuse it (EPERM).
	if (errno != ENOSYS && errno != EPERM) {
		return -errno;
	}
	return stat(path, &info) < 0 ? -errno : mode_allows(&info, (unsigned)how) ? 0 : -EACCES;
}
