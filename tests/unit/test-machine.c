// SPDX-License-Identifier: Apache-2.0

/** What a machine has, from a folder that stands for "/". */

#include "rollcall/machine.h"

#include "check.h"
#include "fixture.h"
#include "tree.h"

#include <sched.h>

#define GIB ((uint64_t)1 << 30)

static struct arena arena;

/** A machine with these files, "PATH=TEXT" with '|' between. */
static struct machine machine_of(const char *files, const char *interface) {
	const char *root = tree_new(&arena);
	struct machine m;
	for (char **file = fixture_split(&arena, files, '|'); *file; file++) {
		char *text = strchr(*file, '=');
		*text = '\0';
		tree_put(root, *file, text + 1);
	}
	machine_read(&arena, root, interface, &m);
	tree_remove(root);
	return m;
}

static void check_gpus(const char *files, uint64_t want) {
	uint64_t got = machine_of(files, NULL).gpus;
	checkf(got == want, "GPUs of %s: %ld, want %ld", files, (long)got, (long)want);
}

static void test_gpus(void) {
	check_gpus("/proc/x=", MACHINE_UNKNOWN);
	check_gpus("/dev/null=", 0);
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

static void test_driver(void) {
	check_text(machine_of("/proc/driver/nvidia/version=NVRM version: NVIDIA UNIX x86_64 Kernel Module  "
			      "535.129.03  Thu Oct 19 18:56:32 UTC 2023\nGCC version:  gcc version 9.4.0\n",
			      NULL)
			   .gpu_driver,
		   "535.129.03", "NVIDIA's driver");
	check_text(
		machine_of(
			"/proc/driver/nvidia/version=NVRM version: NVIDIA UNIX Open Kernel Module for x86_64 "
			" 550.54.15  Release Build  (dvs-builder@U16)\nGCC version: 12.3.0\n",
			NULL)
			.gpu_driver,
		"550.54.15", "NVIDIA's open driver");
	check_text(machine_of("/sys/module/amdgpu/version=6.8.5\n", NULL).gpu_driver, "6.8.5",
		   "AMD's driver");
	check_text(machine_of("/dev/null=", NULL).gpu_driver, NULL, "no driver");
	check_text(machine_of("/proc/sys/kernel/osrelease=6.1.0-13-amd64\n", NULL).kernel, "6.1.0-13-amd64",
		   "the kernel's release");
}

static void test_rdma(void) {
	struct machine m = machine_of("/sys/class/infiniband/mlx5_0/ports/1/state=4: ACTIVE\n|"
				      "/sys/class/infiniband/mlx5_1/ports/1/state=1: DOWN\n|"
				      "/sys/class/infiniband/mlx5_1/ports/2/state=4: ACTIVE\n|"
				      "/dev/infiniband/uverbs0=|/dev/infiniband/rdma_cm=",
				      NULL);
	check(m.rdma_devices == 2);
	check(m.rdma_active == 2);
	check(m.rdma_verbs == 1);
	m = machine_of("/dev/null=", NULL);
	check(m.rdma_devices == 0 && m.rdma_active == 0 && m.rdma_verbs == 0);
}

static void test_mtu(void) {
	static const char files[] = "/proc/net/route=Iface\tDestination\tGateway \tFlags\n"
				    "eth1\t0000000A\t00000000\t0001\neth0\t00000000\t0100000A\t0003\n|"
				    "/sys/class/net/eth0/mtu=1450\n|/sys/class/net/ib0/mtu=2044\n";
	check(machine_of(files, NULL).mtu == 1450);
	check(machine_of(files, "ib0").mtu == 2044);
	check(machine_of(files, "ib7").mtu == MACHINE_UNKNOWN);
	check(machine_of("/dev/null=", NULL).mtu == MACHINE_UNKNOWN);
}

/** With these files, there are @cpus and @memory, and memory is limited. */
static void check_limits(const char *files, uint64_t cpus, uint64_t memory, bool limited) {
	struct machine m = machine_of(files, NULL);
	checkf(m.cpus == cpus, "CPUs of %s: %lu, want %lu", files, (unsigned long)m.cpus,
	       (unsigned long)cpus);
	checkf(m.memory == memory, "memory of %s: %lu, want %lu", files, (unsigned long)m.memory,
	       (unsigned long)memory);
	checkf(m.memory_limited == limited, "whether the memory of %s is limited", files);
}

#define MEMINFO "/proc/meminfo=MemTotal:       16777216 kB\nMemFree: 1 kB\n|"
#define V2	"/proc/self/cgroup=0::/a/b\n|"
#define V1	"/proc/self/cgroup=5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n|"

static void test_limits(uint64_t all) {
	check_limits("/dev/null=", all, MACHINE_UNKNOWN, false);
	check_limits(MEMINFO "/dev/null=", all, 16 * GIB, false);
	// cgroup v2: in a container, the top is its own.
	check_limits(MEMINFO "/proc/self/cgroup=0::/\n|/sys/fs/cgroup/memory.max=1073741824\n|"
			     "/sys/fs/cgroup/cpu.max=50000 100000\n",
		     1, GIB, true);
	check_limits(MEMINFO "/proc/self/cgroup=0::/\n|/sys/fs/cgroup/memory.max=max\n|"
			     "/sys/fs/cgroup/cpu.max=max 100000\n",
		     all, 16 * GIB, false);
	// The smallest of all above it holds.
	check_limits(MEMINFO V2 "/sys/fs/cgroup/a/memory.max=1073741824\n|"
				"/sys/fs/cgroup/a/b/memory.max=2147483648\n|"
				"/sys/fs/cgroup/a/b/cpu.max=10000 100000\n",
		     1, GIB, true);
	// The path is the host's, which is not there.
	check_limits(MEMINFO V2 "/sys/fs/cgroup/memory.max=1073741824\n", all, GIB, true);
	check_limits(MEMINFO "/proc/self/cgroup=0::/../../x\n|/sys/fs/cgroup/memory.max=1073741824\n", all,
		     GIB, true);
	// cgroup v1
	check_limits(MEMINFO V1 "/sys/fs/cgroup/memory/memory.limit_in_bytes=1073741824\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_quota_us=100000\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_period_us=100000\n",
		     1, GIB, true);
	check_limits(MEMINFO V1 "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes=2147483648\n|"
				"/sys/fs/cgroup/memory/memory.limit_in_bytes=9223372036854771712\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_quota_us=-1\n|"
				"/sys/fs/cgroup/cpu/cpu.cfs_period_us=100000\n",
		     all, 2 * GIB, true);
	check_limits(MEMINFO "/sys/fs/cgroup/cpu.max=1 0\n", all, 16 * GIB, false);
}

int main(void) {
	cpu_set_t set;
	arena = fixture_arena();
	test_gpus();
	test_driver();
	test_rdma();
	test_mtu();
	sched_getaffinity(0, sizeof(set), &set);
	test_limits((uint64_t)CPU_COUNT(&set));
	arena_done(&arena);
	return check_done();
}
