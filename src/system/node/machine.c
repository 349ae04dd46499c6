// SPDX-License-Identifier: Apache-2.0

#include "node/machine.h"

#include "base/num.h"

#include <sched.h>
#include <stdlib.h>

#define TEXT_BYTES  ((size_t)64 << 10)
#define CACHE_BYTES ((size_t)16 << 20)

/** More CPUs than Linux can have. */
#define CPUS_MAX 8192

const char *machine_text(const struct machine *m, const char *path) {
	struct str text;
	const struct arena before = *m->arena;
	if (view_read(m->view, m->arena, path, TEXT_BYTES, &text) < 0) {
		return NULL;
	}
	while (text.len && (unsigned char)text.p[text.len - 1] <= ' ') {
		text.len--;
	}
	// Keep only the text: the buffer was a page, and thousands of files are read.
	arena_back(m->arena, &before);
	char *at = memmove(arena_alloc(m->arena, text.len + 1), text.p, text.len);
	at[text.len] = '\0';
	return at;
}

const char *machine_link(const struct machine *m, const char *path) {
	return view_link(m->view, m->arena, path);
}

static uint64_t number_in(struct str text) {
	uint64_t number = MACHINE_UNKNOWN;
	num_read(text, MACHINE_UNKNOWN - 1, &number);
	return number;
}

static uint64_t number_of(const struct machine *m, const char *path) {
	return number_in(str_of(machine_text(m, path)));
}

/** A condition for files to be counted. */
struct counting {
	/** The file begins with this text; NULL: any text. */
	const char *text;
	/** This process may read and write the file. */
	bool writable;
};

static bool counts(const struct machine *m, const char *path, const struct counting *which) {
	if (which->text) {
		const char *found = machine_text(m, path);
		return found && str_starts(str_of(found), str_of(which->text));
	}
	return which->writable ? view_may_use(m->view, path) : view_exists(m->view, path);
}

static int compare_names(const void *a, const void *b) {
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **machine_names(const struct machine *m, const char *path) {
	uint32_t n = 0, cap = 0;
	const char **names = NULL;
	struct entries dir;
	view_entries(m->view, path, &dir);
	for (const char *found; (found = entries_next(&dir));) {
		names = arena_more(m->arena, names, n, &cap, sizeof(*names));
		if (*found != '.') {
			names[n++] = arena_text(m->arena, found, strlen(found));
		}
	}
	names = arena_more(m->arena, names, n, &cap, sizeof(*names));
	names[n] = NULL;
	qsort(names, n, sizeof(*names), compare_names);
	return names;
}

static uint64_t count(const struct machine *m, const char *path, const struct counting *which) {
	size_t mark = strcspn(path, "*"), folder = mark;
	uint64_t n = 0;
	if (!path[mark]) {
		return counts(m, path, which);
	}
	while (path[folder - 1] != '/') {
		folder--;
	}
	const char *parent = arena_text(m->arena, path, folder);
	size_t prefix = mark - folder;
	for (const char **name = machine_names(m, parent); *name; name++) {
		bool matches = !prefix || (strncmp(*name, path + folder, prefix) == 0 &&
					   number_in(str_of(*name + prefix)) != MACHINE_UNKNOWN);
		if (matches) {
			n += count(m, arena_format(m->arena, "%s%s%s", parent, *name, path + mark + 1),
				   which);
		}
	}
	return n;
}

uint64_t machine_count(const struct machine *m, const char *path, const char *text) {
	return count(m, path, &(struct counting){.text = text});
}

uint64_t machine_writable(const struct machine *m, const char *path) {
	return count(m, path, &(struct counting){.writable = true});
}

bool machine_mentions(const struct machine *m, const char *path, const char *text) {
	struct str all;
	const char *found = NULL;
	if (view_read(m->view, m->arena, path, CACHE_BYTES, &all) < 0) {
		return false;
	}
	// The file may have many texts, each with a NUL at its end.
	for (const char *p = all.p; p < all.p + all.len && !found; p += strlen(p) + 1) {
		found = strstr(p, text);
	}
	return found;
}

uint64_t machine_size(const struct machine *m, const char *path) {
	return view_size(m->view, path);
}

struct gpus machine_gpus(const struct machine *m) {
	// Count the first kind that exists only, because a machine with NVIDIA's GPUs has renderD* as well.
	static const char *const kinds[] = {"/dev/nvidia*",	 "/dev/dri/renderD*", "/dev/accel*",
					    "/dev/accel/accel*", "/dev/davinci*",     "/dev/neuron*"};
	struct gpus found = {0, 0};
	for (size_t i = 0; !found.n && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		// Any graphics card has renderD*. Only AMD's GPUs for computing have /dev/kfd.
		bool other = i == 1 && !machine_count(m, "/dev/kfd", NULL);
		found.n = other ? 0 : machine_count(m, kinds[i], NULL);
		found.denied = found.n ? found.n - machine_writable(m, kinds[i]) : 0;
	}
	return found;
}

const char *machine_gpu_driver(const struct machine *m) {
	struct str text = str_of(machine_text(m, "/proc/driver/nvidia/version")), word;
	// The version is the first word that begins with a digit and has a dot.
	while (str_cut(&text, ' ', &word)) {
		if (word.len && word.p[0] <= '9' && str_find(word, '.') < word.len) {
			return arena_text(m->arena, word.p, word.len);
		}
	}
	return machine_text(m, "/sys/module/amdgpu/version");
}

/** The interface of IPv4's default route, the first line with this destination; or NULL. */
static const char *default_interface(const struct machine *m) {
	struct str rest = str_of(machine_text(m, "/proc/net/route")), line;
	while (str_cut(&rest, '\n', &line)) {
		size_t name = str_find(line, '\t');
		if (str_starts(str_from(line, name), STR("\t00000000\t"))) {
			return arena_text(m->arena, line.p, name);
		}
	}
	return NULL;
}

uint64_t machine_mtu(const struct machine *m, const char *interface) {
	interface = interface ? interface : default_interface(m);
	return interface ? number_of(m, arena_format(m->arena, "/sys/class/net/%s/mtu", interface))
			 : MACHINE_UNKNOWN;
}

/** A limit of cgroups. */
struct limit {
	/** The text before the path in its line of /proc/self/cgroup. */
	const char *mark;
	/**
	 * The folder where the hierarchy is mounted, and the name of the file with the limit in each group.
	 */
	const char *top, *file;
	/**
	 * The name of the file with the divisor of the limit; NULL: the divisor is the second word of @file,
	 * or 1.
	 */
	const char *period;
	/** The limit is multiplied by this: 100 to get hundredths of CPUs. */
	uint64_t parts;
};

static uint64_t limit_in(const struct machine *m, const struct limit *limit, const char *folder) {
	const char *text = machine_text(m, arena_format(m->arena, "%s/%s", folder, limit->file));
	struct str rest = str_of(text ? text : ""), first;
	str_cut(&rest, ' ', &first);
	uint64_t number = number_in(first), period = rest.p ? number_in(rest) : 1;
	if (limit->period) {
		period = number_of(m, arena_format(m->arena, "%s/%s", folder, limit->period));
	}
	bool known = number != MACHINE_UNKNOWN && period != MACHINE_UNKNOWN && period != 0;
	return known ? (number * limit->parts + period - 1) / period : MACHINE_UNKNOWN;
}

/**
 * The smallest of @least and the limits of our cgroup and its ancestors. In a container, the path is often
 * the host's, and only the top folder exists: folders that do not exist have no limit.
 */
static uint64_t least_limit(const struct machine *m, const struct limit *limit, uint64_t least) {
	const char *lines = machine_text(m, "/proc/self/cgroup");
	const char *path = lines ? strstr(lines, limit->mark) : NULL;
	path = path ? path + strlen(limit->mark) : "";
	size_t top = strlen(limit->top);
	char *folder = arena_format(m->arena, "%s%.*s", limit->top, (int)strcspn(path, "\n"), path);
	for (;;) {
		uint64_t found = limit_in(m, limit, folder);
		least = found < least ? found : least;
		char *slash = strrchr(folder, '/');
		if ((size_t)(slash - folder) < top) {
			return least;
		}
		*slash = '\0';
	}
}

static uint64_t count_cpus(void) {
	unsigned long set[CPUS_MAX / 8 / sizeof(unsigned long)] = {0};
	uint64_t n = 0;
	sched_getaffinity(0, sizeof(set), (cpu_set_t *)(void *)set);
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		for (; set[i]; set[i] &= set[i] - 1) {
			n++;
		}
	}
	return n ? 100 * n : MACHINE_UNKNOWN;
}

uint64_t machine_cpus(const struct machine *m) {
	static const struct limit limits[] = {
		{"0::", "/sys/fs/cgroup", "cpu.max", NULL, 100},
		{":cpu,cpuacct:", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", 100},
	};
	return least_limit(m, &limits[1], least_limit(m, &limits[0], count_cpus()));
}

/** @bytes in MiB, rounded up to a sixteenth of the next power of two. */
static uint64_t rounded(uint64_t bytes) {
	uint64_t mib = bytes >> 20, step = 1;
	while (step * 16 <= mib) {
		step *= 2;
	}
	return (mib + step - 1) & ~(step - 1);
}

uint64_t machine_memory(const struct machine *m) {
	static const struct limit limits[] = {
		{"0::", "/sys/fs/cgroup", "memory.max", NULL, 1},
		{":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", NULL, 1},
	};
	struct str text = str_of(machine_text(m, "/proc/meminfo")), word;
	uint64_t total = MACHINE_UNKNOWN;
	// "MemTotal:       16384 kB" is the first line.
	while (total == MACHINE_UNKNOWN && str_cut(&text, ' ', &word)) {
		total = number_in(word);
	}
	uint64_t limit = least_limit(m, &limits[1], least_limit(m, &limits[0], MACHINE_UNKNOWN));
	// Larger numbers stand for no limit.
	if (limit >> 60 == 0 && limit >> 10 < total) {
		return limit >> 20;
	}
	return total == MACHINE_UNKNOWN ? MACHINE_UNKNOWN : rounded(total << 10);
}

uint64_t machine_shm(const struct machine *m) {
	return rounded(view_capacity(m->view, "/dev/shm"));
}
