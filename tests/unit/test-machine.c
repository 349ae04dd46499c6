// SPDX-License-Identifier: Apache-2.0

/** What a machine has, from a folder that stands for "/". */

#include "node/machine.h"

#include "check.h"
#include "fixture.h"
#include "tree.h"

#include <sched.h>

static struct arena arena;
/** Of the last machine_of(). */
static const char *root;

/** A folder with these files, "PATH=TEXT" with '|' between. The caller removes it. */
static struct machine machine_of(const char *files) {
	root = tree_new(&arena);
	struct machine m = {&arena, tree_view(&arena, root)};
	for (char **file = fixture_split(&arena, files, '|'); *file; file++) {
		char *text = strchr(*file, '=');
		*text = '\0';
		tree_put(root, *file, text + 1);
	}
	return m;
}

static void check_count(uint64_t got, uint64_t want, const char *what) {
	checkf(got == want, "%s: %ld, want %ld", what, (long)got, (long)want);
}

static void check_gpus(const char *files, uint64_t want) {
	struct machine m = machine_of(files);
	check_count(machine_gpus(&m).n, want, files);
	tree_remove(root);
}

static void test_gpus(void) {
	check_gpus("/dev/null=", 0);
	check_gpus("/proc/x=", 0);
	check_gpus("/dev/nvidia0=|/dev/nvidia1=|/dev/nvidia10=|/dev/nvidiactl=|/dev/nvidia-uvm=|"
		   "/dev/nvidia-nvswitch0=|/dev/nvidia-caps/nvidia-cap1=|/dev/nvidia-modeset=",
		   3);
	check_gpus("/dev/nvidiactl=|/dev/nvidia-uvm=", 0);
	check_gpus("/dev/dri/renderD128=|/dev/dri/renderD129=|/dev/dri/card0=|/dev/kfd=", 2);
	check_gpus("/dev/dri/renderD128=", 0);
	check_gpus("/dev/dri/renderD128=|/dev/kfd=|/dev/nvidia0=", 1);
	check_gpus("/dev/accel0=|/dev/accel1=|/dev/accel2=|/dev/accel3=", 4);
	check_gpus("/dev/accel/accel0=|/dev/accel/accel_controlD0=", 1);
	check_gpus("/dev/davinci0=|/dev/davinci_manager=", 1);
	check_gpus("/dev/neuron0=|/dev/neuron1=", 2);
}

static void check_driver(const char *files, const char *want) {
	struct machine m = machine_of(files);
	check_text(machine_gpu_driver(&m), want, "the driver of %s", files);
	tree_remove(root);
}

static void test_driver(void) {
	check_driver(
		"/proc/driver/nvidia/version=NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  "
		"Thu Oct 19 18:56:32 UTC 2023\nGCC version:  gcc version 9.4.0\n",
		"535.129.03");
	check_driver("/proc/driver/nvidia/version=NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
		     "550.54.15  Release Build  (dvs-builder@U16)\nGCC version: 12.3.0\n",
		     "550.54.15");
	check_driver("/sys/module/amdgpu/version=6.8.5\n", "6.8.5");
	check_driver("/dev/null=", NULL);
}

static void test_count(void) {
	static const char active[] = "/sys/class/infiniband/*/ports/*/state";
	struct machine m = machine_of("/sys/class/infiniband/mlx5_0/ports/1/state=4: ACTIVE\n|"
				      "/sys/class/infiniband/mlx5_1/ports/1/state=1: DOWN\n|"
				      "/sys/class/infiniband/mlx5_1/ports/2/state=4: ACTIVE\n|"
				      "/dev/infiniband/uverbs0=|/dev/infiniband/rdma_cm=|/d/x=4: a|/d/.x=4:");
	check_count(machine_count(&m, "/sys/class/infiniband/*", NULL), 2, "devices");
	check_count(machine_count(&m, active, "4:"), 2, "active ports");
	check_count(machine_count(&m, "/dev/infiniband/uverbs*", NULL), 1, "devices that may be opened");
	check_count(machine_count(&m, "/none/*", NULL), 0, "no such folder");
	check_count(machine_count(&m, "/d/*", NULL), 1, "hidden files do not count");
	check_count(machine_count(&m, "/d/x", NULL), 1, "one file");
	check_count(machine_count(&m, "/d/y", "4:"), 0, "no such file");
	tree_remove(root);
}

static void test_mtu(void) {
	struct machine m = machine_of("/proc/net/route=Iface\tDestination\tGateway \tFlags\n"
				      "eth1\t0000000A\t00000000\t0001\neth0\t00000000\t0100000A\t0003\n|"
				      "/sys/class/net/eth0/mtu=1450\n|/sys/class/net/ib0/mtu=2044\n");
	check_count(machine_mtu(&m, NULL), 1450, "the default route's MTU");
	check_count(machine_mtu(&m, "ib0"), 2044, "an interface's MTU");
	check_count(machine_mtu(&m, "ib7"), MACHINE_UNKNOWN, "no such interface");
	tree_remove(root);
	m = machine_of("/dev/null=");
	check_count(machine_mtu(&m, NULL), MACHINE_UNKNOWN, "no route");
	tree_remove(root);
}

/** With these files, there are @cpus hundredths of a CPU, and @memory MiB. */
static void check_limits(const char *files, uint64_t cpus, uint64_t memory) {
	struct machine m = machine_of(files);
	check_count(machine_cpus(&m), cpus, arena_format(&arena, "hundredths of CPUs of %s", files));
	check_count(machine_memory(&m), memory, arena_format(&arena, "memory of %s", files));
	tree_remove(root);
}

#define MEMINFO "/proc/meminfo=MemTotal:       16777216 kB\nMemFree: 1 kB\n|"
#define V2	"/proc/self/cgroup=0::/a/b\n|"
#define V1	"/proc/self/cgroup=5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n|"
#define GIB	"1073741824"

static void test_limits(uint64_t all) {
	check_limits("/dev/null=", all, MACHINE_UNKNOWN);
	check_limits(MEMINFO "/dev/null=", all, 16384);
	// Twins are rounded to the same.
	check_limits("/proc/meminfo=MemTotal: 16000000 kB\n", all, 16384);
	check_limits("/proc/meminfo=MemTotal: 16200000 kB\n", all, 16384);
	check_limits("/proc/meminfo=MemTotal: 527000000 kB\n", all, 524288);
	// cgroup v2: in a container, the top is its own.
	check_limits(MEMINFO "/proc/self/cgroup=0::/\n|/sys/fs/cgroup/memory.max=" GIB "\n|"
			     "/sys/fs/cgroup/cpu.max=50000 100000\n",
		     50, 1024);
	check_limits(MEMINFO "/proc/self/cgroup=0::/\n|/sys/fs/cgroup/memory.max=max\n|"
			     "/sys/fs/cgroup/cpu.max=max 100000\n",
		     all, 16384);
	// The smallest of all above it holds.
	check_limits(MEMINFO V2 "/sys/fs/cgroup/a/memory.max=" GIB "\n|"
				"/sys/fs/cgroup/a/b/memory.max=2147483648\n|"
				"/sys/fs/cgroup/a/b/cpu.max=10000 100000\n",
		     10, 1024);
	// The path is the host's, which is not there.
	check_limits(MEMINFO V2 "/sys/fs/cgroup/memory.max=" GIB "\n", all, 1024);
	check_limits(MEMINFO "/proc/self/cgroup=0::/../../x\n|/sys/fs/cgroup/memory.max=" GIB "\n", all,
		     1024);
	// A limit is exact.
	check_limits(MEMINFO "/sys/fs/cgroup/memory.max=104857600\n", all, 100);
	// cgroup v1
	check_limits(MEMINFO V1 "/sys/fs/cgroup/memory/memory.limit_in_bytes=" GIB "\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_quota_us=100000\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_period_us=100000\n",
		     100, 1024);
	check_limits("/sys/fs/cgroup/cpu.max=133333 100000\n", all < 200 ? all : 134, MACHINE_UNKNOWN);
	check_limits(MEMINFO V1 "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes=2147483648\n|"
				"/sys/fs/cgroup/memory/memory.limit_in_bytes=9223372036854771712\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_quota_us=-1\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_period_us=100000\n",
		     all, 2048);
	check_limits(MEMINFO "/sys/fs/cgroup/cpu.max=1 0\n", all, 16384);
	check_limits(MEMINFO "/sys/fs/cgroup/cpu.max=\n|/sys/fs/cgroup/memory.max=x", all, 16384);
}

int main(void) {
	cpu_set_t set;
	arena = fixture_arena();
	test_gpus();
	test_driver();
	test_count();
	test_mtu();
	sched_getaffinity(0, sizeof(set), &set);
	test_limits((uint64_t)CPU_COUNT(&set) * 100);
	arena_done(&arena);
	return check_done();
}
