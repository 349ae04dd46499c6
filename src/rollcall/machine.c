// SPDX-License-Identifier: Apache-2.0

#include "rollcall/machine.h"

#include "base/file.h"
#include "base/num.h"

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TEXT_BYTES ((size_t)64 << 10)

/** More CPUs than Linux can have. */
#define CPUS_MAX 8192

struct reader {
	struct arena *arena;
	const char *root;
};

static const char *under(const struct reader *r, const char *path) {
	return file_under_root(r->arena, r->root, path);
}

/** The text of the file @path without blanks at its end; empty if it cannot be read. */
static struct str text_of(const struct reader *r, const char *path) {
	struct str text = {0};
	struct err ignored;
	if (file_read(r->arena, "", under(r, path), TEXT_BYTES, &text, &ignored) < 0) {
		return (struct str){"", 0};
	}
	while (text.len && (unsigned char)text.p[text.len - 1] <= ' ') {
		text.len--;
	}
	return text;
}

static const char *line_of(const struct reader *r, const char *path) {
	struct str text = text_of(r, path);
	return text.len ? arena_text(r->arena, text.p, text.len) : NULL;
}

static uint64_t number_in(struct str text) {
	uint64_t number = MACHINE_UNKNOWN;
	num_read(str_trim(text), MACHINE_UNLIMITED - 1, &number);
	return number;
}

/** How many entries of the folder @path are @prefix and a number; MACHINE_UNKNOWN: no such folder. */
static uint64_t count_numbered(const struct reader *r, const char *path, const char *prefix) {
	DIR *folder = opendir(under(r, path));
	uint64_t n = 0;
	if (!folder) {
		return MACHINE_UNKNOWN;
	}
	for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
		struct str name = str_of(entry->d_name);
		if (str_starts(name, str_of(prefix))) {
			n += number_in(str_from(name, strlen(prefix))) != MACHINE_UNKNOWN;
		}
	}
	closedir(folder);
	return n;
}

static uint64_t count_gpus(const struct reader *r) {
	// The first kind that is there counts: a machine with NVIDIA's GPUs has renderD* as well.
	static const struct {
		const char *folder, *prefix, *beside;
	} kinds[] = {
		{"/dev", "nvidia", NULL},      {"/dev/dri", "renderD", "/dev/kfd"}, {"/dev", "accel", NULL},
		{"/dev/accel", "accel", NULL}, {"/dev", "davinci", NULL},	    {"/dev", "neuron", NULL},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t n = count_numbered(r, kinds[i].folder, kinds[i].prefix);
		bool whole = !kinds[i].beside || access(under(r, kinds[i].beside), F_OK) == 0;
		if (n && n != MACHINE_UNKNOWN && whole) {
			return n;
		}
	}
	return access(under(r, "/dev"), R_OK) == 0 ? 0 : MACHINE_UNKNOWN;
}

/** The driver's version: the first word of the first line that begins with a digit and has a dot. */
static const char *read_gpu_driver(const struct reader *r) {
	struct str text = text_of(r, "/proc/driver/nvidia/version"), word;
	text.len = str_find(text, '\n');
	while (str_cut(&text, ' ', &word)) {
		if (word.len && word.p[0] >= '0' && word.p[0] <= '9' && str_find(word, '.') < word.len) {
			return arena_text(r->arena, word.p, word.len);
		}
	}
	return line_of(r, "/sys/module/amdgpu/version");
}

static uint64_t count_active_ports(const struct reader *r, const char *device) {
	const char *ports = arena_format(r->arena, "/sys/class/infiniband/%s/ports", device);
	DIR *folder = opendir(under(r, ports));
	uint64_t n = 0;
	for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
		if (entry->d_name[0] != '.') {
			const char *state = arena_format(r->arena, "%s/%s/state", ports, entry->d_name);
			n += str_starts(text_of(r, state), STR("4:"));
		}
	}
	if (folder) {
		closedir(folder);
	}
	return n;
}

static void read_rdma(const struct reader *r, struct machine *m) {
	DIR *folder = opendir(under(r, "/sys/class/infiniband"));
	m->rdma_devices = m->rdma_active = 0;
	for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
		if (entry->d_name[0] != '.') {
			m->rdma_devices++;
			m->rdma_active += count_active_ports(r, entry->d_name);
		}
	}
	if (folder) {
		closedir(folder);
	}
	m->rdma_verbs = count_numbered(r, "/dev/infiniband", "uverbs");
	m->rdma_verbs = m->rdma_verbs == MACHINE_UNKNOWN ? 0 : m->rdma_verbs;
}

/** The interface of IPv4's default route, or NULL. */
static const char *default_interface(const struct reader *r) {
	struct str rest = text_of(r, "/proc/net/route"), line;
	while (str_cut(&rest, '\n', &line)) {
		size_t name = str_find(line, '\t');
		if (name < line.len && str_starts(str_from(line, name), STR("\t00000000\t"))) {
			return arena_text(r->arena, line.p, name);
		}
	}
	return NULL;
}

static uint64_t read_mtu(const struct reader *r, const char *interface) {
	interface = interface ? interface : default_interface(r);
	return interface ? number_in(text_of(r, arena_format(r->arena, "/sys/class/net/%s/mtu", interface)))
			 : MACHINE_UNKNOWN;
}

// --- limits of cgroups ----------------------------------------------------------------------------------

static uint64_t file_in(const struct reader *r, const char *folder, const char *name) {
	return number_in(text_of(r, arena_format(r->arena, "%s/%s", folder, name)));
}

/** CPUs for a quota of @quota in each @period, both in microseconds. */
static uint64_t cpus_of(uint64_t quota, uint64_t period) {
	return quota == MACHINE_UNKNOWN || period == MACHINE_UNKNOWN || period == 0
		       ? MACHINE_UNKNOWN
		       : (quota + period - 1) / period;
}

static uint64_t cpus_v2(const struct reader *r, const char *folder) {
	struct str text = text_of(r, arena_format(r->arena, "%s/cpu.max", folder)), quota;
	str_cut(&text, ' ', &quota);
	return text.p ? cpus_of(number_in(quota), number_in(text)) : MACHINE_UNKNOWN;
}

static uint64_t cpus_v1(const struct reader *r, const char *folder) {
	return cpus_of(file_in(r, folder, "cpu.cfs_quota_us"), file_in(r, folder, "cpu.cfs_period_us"));
}

static uint64_t memory_v2(const struct reader *r, const char *folder) {
	return file_in(r, folder, "memory.max");
}

static uint64_t memory_v1(const struct reader *r, const char *folder) {
	return file_in(r, folder, "memory.limit_in_bytes");
}

/**
 * This process's cgroup for @controller ("": v2) in the lines of /proc/self/cgroup: "4:cpu,cpuacct:/job".
 * "" if there is none, or if it is outside of our namespace.
 */
static struct str cgroup_path(struct str lines, const char *controller) {
	struct str line, names, name;
	while (str_cut(&lines, '\n', &line)) {
		str_cut(&line, ':', &names);
		if (!line.p || !str_cut(&line, ':', &names) || !line.p) {
			continue;
		}
		while (str_cut(&names, ',', &name)) {
			if (str_is(name, controller)) {
				return str_starts(line, STR("/..")) ? (struct str){"", 0} : line;
			}
		}
	}
	return (struct str){"", 0};
}

/**
 * The smallest limit of our cgroup and all above it. In a container, the path is often that of the
 * host, and only the top is there: folders that do not exist have no limit.
 */
static uint64_t least_limit(const struct reader *r, const char *top, struct str path,
			    uint64_t (*limit)(const struct reader *r, const char *folder)) {
	uint64_t least = MACHINE_UNKNOWN;
	for (;;) {
		while (path.len && path.p[path.len - 1] == '/') {
			path.len--;
		}
		uint64_t found = limit(r, arena_format(r->arena, "%s%.*s", top, (int)path.len, path.p));
		least = found < least ? found : least;
		if (path.len == 0) {
			return least;
		}
		while (path.len && path.p[path.len - 1] != '/') {
			path.len--;
		}
	}
}

static uint64_t smaller(uint64_t a, uint64_t b) {
	return a < b ? a : b;
}

/** CPUs in our affinity. */
static uint64_t count_cpus(void) {
	unsigned long set[CPUS_MAX / 8 / sizeof(unsigned long)] = {0};
	uint64_t n = 0;
	if (sched_getaffinity(0, sizeof(set), (cpu_set_t *)(void *)set) < 0) {
		return MACHINE_UNKNOWN;
	}
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		n += (uint64_t)__builtin_popcountl(set[i]);
	}
	return n;
}

/** MemTotal of /proc/meminfo, in bytes. */
static uint64_t total_memory(const struct reader *r) {
	struct str text = text_of(r, "/proc/meminfo"), word;
	while (str_cut(&text, ' ', &word)) {
		uint64_t number = number_in(word);
		if (number != MACHINE_UNKNOWN) {
			return number << 10;
		}
	}
	return MACHINE_UNKNOWN;
}

static void read_cgroups(const struct reader *r, struct machine *m) {
	struct str lines = text_of(r, "/proc/self/cgroup");
	struct str v2 = cgroup_path(lines, "");
	uint64_t cpus = smaller(least_limit(r, "/sys/fs/cgroup", v2, cpus_v2),
				least_limit(r, "/sys/fs/cgroup/cpu", cgroup_path(lines, "cpu"), cpus_v1));
	uint64_t memory =
		smaller(least_limit(r, "/sys/fs/cgroup", v2, memory_v2),
			least_limit(r, "/sys/fs/cgroup/memory", cgroup_path(lines, "memory"), memory_v1));
	m->cpus = smaller(count_cpus(), cpus);
	uint64_t total = total_memory(r);
	m->memory_limited = memory < total;
	m->memory = smaller(total, memory);
}

static uint64_t soft_limit(int resource) {
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0) {
		return MACHINE_UNKNOWN;
	}
	return limit.rlim_cur == RLIM_INFINITY ? MACHINE_UNLIMITED : limit.rlim_cur;
}

static uint64_t read_shm(const struct reader *r) {
	struct statvfs fs;
	return statvfs(under(r, "/dev/shm"), &fs) == 0 ? (uint64_t)fs.f_blocks * fs.f_frsize : 0;
}

void machine_read(struct arena *arena, const char *root, const char *interface, struct machine *m) {
	const struct reader r = {arena, root};
	m->gpus = count_gpus(&r);
	m->gpu_driver = read_gpu_driver(&r);
	read_rdma(&r, m);
	m->kernel = line_of(&r, "/proc/sys/kernel/osrelease");
	m->mtu = read_mtu(&r, interface);
	read_cgroups(&r, m);
	m->memlock = soft_limit(RLIMIT_MEMLOCK);
	m->nofile = soft_limit(RLIMIT_NOFILE);
	m->shm = read_shm(&r);
}
