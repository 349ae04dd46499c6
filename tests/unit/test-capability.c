// SPDX-License-Identifier: Apache-2.0

#include "priv/capability.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

static void check_read(const char *text, const char *want) {
	uint64_t set = 7;
	struct err err = {"no error"};
	struct buf got = BUF(&arena);
	if (checkf(caps_parse("--cap-drop", text, true, &set, &err) == 0, "read '%s': %s", text, err.text)) {
		caps_put(&got, set);
		check_text(buf_text(&got), want, "names of '%s'", text);
	}
}

static void check_wrong(const char *text, bool takes_all, const char *want) {
	uint64_t set = 7;
	struct err err = {"no error"};
	checkf(caps_parse("--cap-drop", text, takes_all, &set, &err) == -EINVAL && set == 7, "wrong '%s'",
	       text);
	check_text(err.text, want, "wrong '%s' says", text);
}

static void check_names(void) {
	uint64_t all;
	struct cap_sets sets;
	struct err err;
	check_text(cap_name(0).s, "cap_chown", "the first");
	check_text(cap_name(14).s, "cap_ipc_lock", "a capability");
	check_text(cap_name(40).s, "cap_checkpoint_restore", "the last of Linux 5.9");
	check_text(cap_name(63).s, "cap_63", "one without a name");
	for (unsigned cap = 0; cap < 64; cap++) {
		checkf(cap_find(str_of(cap_name(cap).s)) == (int)cap, "%s is found", cap_name(cap).s);
	}
	check(caps_parse("", "all", true, &all, &err) == 0 && all == CAPS_ALL);
	check(caps_parse("", "ipc_lock,ALL", true, &all, &err) == 0 && all == CAPS_ALL);
	check(caps_first(CAP_BIT(63)) == 63 && caps_first(CAP_BIT(63) | 2) == 1);
	// On any machine: effective capabilities are permitted, and ambient ones inheritable.
	check(caps_read(&sets, &all, &err) == 0);
	check((sets.effective & ~sets.permitted) == 0 && (sets.ambient & ~sets.inheritable) == 0);
	check((sets.bounding & ~all) == 0 && (all & 1) && all != CAPS_ALL);
}

int main(void) {
	arena = fixture_arena();

	check_read("", "");
	check_read("ipc_lock", "cap_ipc_lock");
	check_read("cap_ipc_lock", "cap_ipc_lock");
	check_read("CAP_IPC_LOCK", "cap_ipc_lock");
	check_read("IPC_LOCK,sys_Nice", "cap_ipc_lock cap_sys_nice");
	check_read("sys_nice,ipc_lock,sys_nice", "cap_ipc_lock cap_sys_nice");
	check_read("14,cap_23", "cap_ipc_lock cap_sys_nice");
	check_read("cap_63,cap_50", "cap_50 cap_63");
	check_read("checkpoint_restore", "cap_checkpoint_restore");

	check_wrong("ipc_lok", true,
		    "--cap-drop='ipc_lok': there is no capability 'ipc_lok'; did you mean 'ipc_lock'?");
	check_wrong(
		"CAP_SYS_NIC", true,
		"--cap-drop='CAP_SYS_NIC': there is no capability 'CAP_SYS_NIC'; did you mean 'sys_nice'?");
	check_wrong("chown,", true, "--cap-drop='chown,': there is no capability ''");
	check_wrong(",", true, "--cap-drop=',': there is no capability ''");
	check_wrong("cap_", true, "--cap-drop='cap_': there is no capability 'cap_'");
	check_wrong("chown ", true,
		    "--cap-drop='chown ': there is no capability 'chown '; did you mean 'chown'?");
	check_wrong("64", true, "--cap-drop='64': there is no capability '64'");
	check_wrong(
		"cap_18446744073709551616", true,
		"--cap-drop='cap_18446744073709551616': there is no capability 'cap_18446744073709551616'");
	check_wrong("-1", true, "--cap-drop='-1': there is no capability '-1'");
	check_wrong("cap_cap_chown", true,
		    "--cap-drop='cap_cap_chown': there is no capability 'cap_cap_chown'");
	check_wrong("all", false,
		    "--cap-drop='all': 'all' is not accepted here; name the capabilities needed");

	check_names();
	arena_done(&arena);
	return check_done();
}
