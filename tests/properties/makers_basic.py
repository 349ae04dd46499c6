# SPDX-License-Identifier: Apache-2.0
"""Clusters told by hand, of Backend.AI and of Slurm, and MPI's launchers with and without them."""

from cluster import (Cluster, Member, any_names, counts_text, deal, launcher, listed_names, manager,
                     tasks_on)


@manager("manual")
def told(random, n):
    names, listed = listed_names(random, n)
    by_name = random.random() < 0.5

    def member(i):
        options = [f"--hosts={listed}"]
        if by_name:
            return Member({}, names[i], i, options, hostname=names[i] + random.choice(["", ".example.org"]))
        return Member({}, names[i], i, [*options, f"--node-rank={i}"])

    return Cluster("manual", n, member, hosts=names, nnodes=n, master=names[0])


@manager("manual")
def numbered(random, n):
    """As torchrun's users write it: no names but the master's."""
    master = any_names(random, n)[0]
    spelt = random.choice([lambda name, value: ({}, [f"--{name.replace('_', '-').lower()}={value}"]),
                           lambda name, value: ({f"DISTINIT_{name}": str(value)}, [])])

    def member(i):
        told = [spelt("NNODES", n), spelt("NODE_RANK", i), *([spelt("MASTER_ADDR", master)] if n > 1 else [])]
        return Member({k: v for env, _ in told for k, v in env.items()}, None if i else master, i, [o for _, some in told for o in some])

    return Cluster("manual", n, member, nnodes=n, master=master, about="by numbers")


@manager("backendai")
def session(random, n):
    mains = 1 if n < 4 else random.choice([1, 1, 2])
    listed = [f"main{i + 1}" for i in range(mains)] + [f"sub{i + 1}" for i in range(n - mains)]
    if random.random() < 0.5:
        random.shuffle(listed)
    hosts = [h for h in listed if h.startswith("main")] + [h for h in listed if h.startswith("sub")]

    def member(i):
        role = "main" if hosts[i].startswith("main") else "sub"
        return Member({
            "BACKENDAI_CLUSTER_SIZE": str(n), "BACKENDAI_CLUSTER_HOSTS": ",".join(listed),
            "BACKENDAI_CLUSTER_HOST": hosts[i], "BACKENDAI_CLUSTER_LOCAL_RANK": str(i),
            "BACKENDAI_CLUSTER_ROLE": role, "BACKENDAI_CLUSTER_IDX": hosts[i].removeprefix(role),
        }, hosts[i], i)

    return Cluster("backendai", n, member, hosts=hosts, nnodes=n, master=hosts[0])


def step_variables(random, names, listed, counts):
    return {
        "SLURM_JOB_ID": str(random.randint(1, 4000000)), "SLURM_STEP_ID": str(random.randint(0, 50)),
        "SLURM_STEP_NODELIST": listed, "SLURM_JOB_NODELIST": listed, "SLURM_STEP_NUM_NODES": str(len(names)),
        "SLURM_STEP_NUM_TASKS": str(sum(counts)), "SLURM_STEP_TASKS_PER_NODE": counts_text(counts),
        "SLURM_NTASKS": str(sum(counts)), "HOSTNAME": names[0], "ENVIRONMENT": "BATCH",
    }


@manager("slurm")
@launcher("slurm")
def step(random, n):
    names, listed = listed_names(random, n)
    counts = tasks_on(random, n)
    cyclic = random.random() < 0.4
    places = deal(counts, cyclic)
    common = step_variables(random, names, listed, counts)
    if cyclic or random.random() < 0.5:
        common["SLURM_DISTRIBUTION"] = ("cyclic" if cyclic else "block") + random.choice(["", ":cyclic", ",Pack"])
    if len(places) > 1 and random.random() < 0.3:
        # srun --preserve-env in a larger job: the counts are the job's.
        common |= {"SLURM_JOB_NODELIST": f"{listed},other[1-2]", "SLURM_TASKS_PER_NODE": f"3(x{n + 2})",
                   "SLURM_SUBMIT_HOST": "login"}

    def member(i):
        node, local = places[i]
        return Member(common | {
            "SLURM_PROCID": str(i), "SLURM_NODEID": str(node), "SLURM_LOCALID": str(local),
            "SLURMD_NODENAME": names[node],
            "SLURM_GTIDS": ",".join(str(rank) for rank, place in enumerate(places) if place[0] == node),
        }, names[node], i)

    return Cluster("slurm", len(places), member, "task", "slurm", names, n, names[0],
                   about="cyclic" if cyclic else "block")


@manager("slurm")
def arbitrary_step(random, n):
    names, listed = listed_names(random, n)
    counts = tasks_on(random, n)
    order = [name for name, count in zip(names, counts) for _ in range(count)]
    random.shuffle(order)
    common = step_variables(random, names, listed, counts)
    # srun reads a file; a job of sbatch -m arbitrary has a list.
    file = random.random() < 0.5
    how = {"SLURM_HOSTFILE": "/hosts"} if file else {"SLURM_ARBITRARY_NODELIST": ",".join(order)}
    common |= {"SLURM_DISTRIBUTION": "arbitrary", **how}
    seen, locals_ = {}, []
    for name in order:
        locals_.append(seen.get(name, 0))
        seen[name] = locals_[-1] + 1

    def member(i):
        node = names.index(order[i])
        return Member(common | {
            "SLURM_PROCID": str(i), "SLURM_NODEID": str(node), "SLURM_LOCALID": str(locals_[i]),
            "SLURM_GTIDS": ",".join(str(rank) for rank, name in enumerate(order) if name == order[i]),
        }, order[i], i, files={"/hosts": "\n".join(order) + "\n"} if file else {})

    return Cluster("slurm", len(order), member, "task", "slurm", names, n, order[0], about="arbitrary")


@manager("slurm")
def container_of_step(random, n):
    names, listed = listed_names(random, n)
    common = step_variables(random, names, listed, [1] * n)

    def member(i):
        return Member(common | {"SLURM_NODEID": str(i)}, names[i], i)

    return Cluster("slurm", n, member, "node", None, names, n, names[0], about="pyxis")


def openmpi(rank, size, local, local_size, host):
    return {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size, "OMPI_COMM_WORLD_LOCAL_RANK": local,
            "OMPI_COMM_WORLD_LOCAL_SIZE": local_size, "PMIX_HOSTNAME": host}


def mvapich2(rank, size, local, local_size, _host):
    return {"MV2_COMM_WORLD_RANK": rank, "MV2_COMM_WORLD_SIZE": size, "MV2_COMM_WORLD_LOCAL_RANK": local,
            "MV2_COMM_WORLD_LOCAL_SIZE": local_size}


def mvapich(rank, size, local, local_size, _host):
    return {"MVP_COMM_WORLD_RANK": rank, "MVP_COMM_WORLD_SIZE": size, "MVP_COMM_WORLD_LOCAL_RANK": local,
            "MVP_COMM_WORLD_LOCAL_SIZE": local_size}


def hydra(rank, size, local, local_size, host):
    return {"PMI_RANK": rank, "PMI_SIZE": size, "MPI_LOCALRANKID": local, "MPI_LOCALNRANKS": local_size,
            ("PMI_HOSTNAME" if len(host) % 2 else "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"): host}


def jsrun(rank, size, local, local_size, _host):
    return {"JSM_NAMESPACE_RANK": rank, "JSM_NAMESPACE_SIZE": size, "JSM_NAMESPACE_LOCAL_RANK": local,
            "JSM_NAMESPACE_LOCAL_SIZE": local_size}


MPI = {"openmpi": openmpi, "mvapich2": mvapich2, "mvapich": mvapich, "hydra": hydra, "jsrun": jsrun}


def ranks_of(random, which, names):
    """(function that makes the variables of rank i, [host of each rank]) of a launcher on these hosts."""
    counts = tasks_on(random, len(names))
    places = deal(counts, random.random() < 0.3)

    def variables(i):
        node, local = places[i]
        numbers = MPI[which](i, len(places), local, counts[node], names[node])
        return {name: str(value) for name, value in numbers.items()}

    return variables, [names[node] for node, _ in places]


def alone(which):
    """A launcher without a manager: ranks, but no hosts."""

    def make(random, n):
        names = any_names(random, n)
        variables, hosts = ranks_of(random, which, names)

        def member(i):
            return Member(variables(i), hosts[i], i)

        together = n == 1
        return Cluster(None, len(hosts), member, "task", which, ["127.0.0.1"] if together else None,
                       1 if together else None, "127.0.0.1" if together else None)

    return make


def in_job(which):
    """A launcher in a batch script of Slurm: its ranks, the job's hosts."""

    def make(random, n):
        names, listed = listed_names(random, n)
        variables, hosts = ranks_of(random, which, names)
        job = {"SLURM_JOB_ID": str(random.randint(1, 4000000)), "SLURM_JOB_NODELIST": listed,
               "SLURM_TASKS_PER_NODE": f"1(x{n})", "SLURM_PROCID": "0", "SLURM_NODEID": "0"}

        def member(i):
            return Member(job | variables(i), hosts[i], i, hostname=hosts[i])

        return Cluster("slurm", len(hosts), member, "task", which, names, n, names[0], about="in Slurm")

    return make


for _name in MPI:
    launcher(_name)(alone(_name))
    launcher(_name)(in_job(_name))


@launcher("prrte")
def prterun_in_job(random, n):
    """It does not provide the number of ranks: the nodes are as Slurm says."""
    n = max(n, 2)  # on one node, nobody knows which of them is alone
    names, listed = listed_names(random, n)
    common = step_variables(random, names, listed, [1] * n) | {"PRTE_LAUNCHED": "1", "PMIX_NAMESPACE": "prterun-n-1@1"}
    hosts = [name for name in names for _ in range(random.randint(1, 3))]

    def member(i):
        node = names.index(hosts[i])
        return Member(common | {
            "PMIX_RANK": str(i), "PMIX_HOSTNAME": hosts[i], "SLURMD_NODENAME": hosts[i], "SLURM_PROCID": str(node),
            "SLURM_NODEID": str(node), "SLURM_LOCALID": "0",
        }, hosts[i])

    return Cluster("slurm", len(hosts), member, "allocation", None, names, n, names[0], about="prterun in Slurm")


@manager("slurm")
def batch_script(random, n):
    names, listed = listed_names(random, n)
    env = {"SLURM_JOB_ID": str(random.randint(1, 4000000)), "SLURM_JOB_NODELIST": listed, "SLURM_PROCID": "0",
           "SLURM_NODEID": "0", "SLURM_TASKS_PER_NODE": counts_text(tasks_on(random, n)), "SLURMD_NODENAME": names[0]}
    return Cluster("slurm", 1, lambda i: Member(env, names[0]), "allocation", None, names, n, names[0],
                   about="batch script")


@launcher("torchrun")
def child_of_torchrun(random, n):
    def member(i):
        return Member({"TORCHELASTIC_RUN_ID": "none", "RANK": str(i), "WORLD_SIZE": str(n), "LOCAL_RANK": "0",
                       "MASTER_ADDR": "a", "MASTER_PORT": "29500"})

    return Cluster(None, n, member, None, "torchrun", silent=True)


@launcher("deepspeed")
def child_of_deepspeed(random, n):
    def member(i):
        return Member({"RANK": str(i), "WORLD_SIZE": str(n), "LOCAL_RANK": "0", "LOCAL_SIZE": "1", "CROSS_RANK": str(i),
                       "CROSS_SIZE": str(n), "MASTER_ADDR": "a", "MASTER_PORT": "29500"})

    return Cluster(None, n, member, None, "deepspeed", silent=True)
