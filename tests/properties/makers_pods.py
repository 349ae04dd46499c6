# SPDX-License-Identifier: Apache-2.0
"""Clusters of Kubernetes' operators and of clouds."""

import json

from cluster import Cluster, Member, addresses, any_names, launcher, manager, pod_name, tasks_on


def domain(random):
    return random.choice(["svc", "svc.default", "sub-1.ns.svc.cluster.local"])


@manager("skypilot")
def skypilot(random, n):
    ips = addresses(random, n)

    def member(i):
        return Member({"SKYPILOT_NODE_IPS": "\n".join(ips), "SKYPILOT_NODE_RANK": str(i),
                       "SKYPILOT_NUM_NODES": str(n), "SKYPILOT_NUM_GPUS_PER_NODE": "8"}, ips[i], i)

    return Cluster("skypilot", n, member, hosts=ips, nnodes=n, master=ips[0])


@manager("skypilot")
def skypilot_step(random, n):
    nodes = [f"n{i + 1}" for i in range(n + 1)]
    listed, hosts = f"n[2-{n + 1}]" if n > 1 else "n2", nodes[1:]

    def member(i):
        return Member({"SKYPILOT_NODE_IPS": "\n".join(addresses(random, n + 1)), "SKYPILOT_NODE_RANK": str(i),
                       "SKYPILOT_NUM_NODES": str(n), "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": f"n[1-{n + 1}]",
                       "SLURM_STEP_ID": "1", "SLURM_STEP_NODELIST": listed, "SLURM_NODEID": str(i),
                       "SLURM_PROCID": str(i), "SLURM_STEP_NUM_TASKS": str(n), "SLURM_STEP_NUM_NODES": str(n),
                       "SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": f"1(x{n})" if n > 1 else "1"}, hosts[i], i)

    return Cluster("skypilot", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="step of Slurm")


@manager("valohai")
def valohai(random, n):
    ips = addresses(random, n)
    members = [{"member_id": str(i), "network": {"local_ips": [ip], "exposed_ports": {}}} for i, ip in enumerate(ips)]
    random.shuffle(members)

    def member(i):
        file = json.dumps({"config": {"member_id": str(i), "required_count": n}, "members": members})
        return Member({"VH_JOB_ID": "exec-1"}, ips[i], i, files={"/valohai/config/distributed.json": file})

    return Cluster("valohai", n, member, hosts=ips, nnodes=n, master=ips[0])


@manager("xpk")
def xpk_gpus(random, n):
    job = pod_name(random)
    hosts = [f"{job}-slice-job-0-{i}.{job}" for i in range(n)]

    def member(i):
        return Member({"JOBSET_NAME": job, "REPLICATED_JOB_NAME": "slice-job", "NNODES": str(n), "NODE_RANK": str(i),
                       "JAX_COORDINATOR_ADDRESS": hosts[0], "JAX_COORDINATOR_PORT": "6002", "GPUS_PER_NODE": "8"},
                      hosts[i], i)

    return Cluster("xpk", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="GPUs",
                   kept=("JAX_COORDINATOR_ADDRESS",))


@manager("xpk")
def xpk_cpus(random, n):
    job = pod_name(random)
    inside = random.choice([k for k in range(1, n + 1) if n % k == 0])
    hosts = [f"{job}-slice-job-{i // inside}-{i % inside}.{job}" for i in range(n)]

    def member(i):
        return Member({"REPLICATED_JOB_NAME": "slice-job", "JOB_INDEX": str(i // inside),
                       "JOB_COMPLETION_INDEX": str(i % inside), "PROCESSES_IN_JOB": str(inside),
                       "JAX_PROCESS_COUNT": str(n), "JAX_COORDINATOR_ADDRESS": hosts[0]}, hosts[i], i)

    return Cluster("xpk", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="CPUs",
                   kept=("JAX_COORDINATOR_ADDRESS",))


@manager("gpurecipes")
def gpurecipes(random, n):
    job = pod_name(random)
    hosts = [f"{job}-workload-0-{i}.{job}.default.svc.cluster.local" for i in range(n)]

    def member(i):
        return Member({"JOB_ORCHESTRATOR": "gke", "JOB_IDENTIFIER": f"{job}-1", "JOB_COMPLETION_INDEX": str(i),
                       "MASTER_ADDR": hosts[0], "MASTER_PORT": "6002", "NNODES": str(n), "WORLD_SIZE": str(8 * n),
                       "GPUS_PER_NODE": "8"}, hosts[i], i)

    return Cluster("gpurecipes", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("flyte")
def flyte(random, n):
    job = pod_name(random)
    hosts = [f"{job}-workers-0-{i}.{job}.flyte.svc.cluster.local" for i in range(n)]

    def member(i):
        return Member({"JOBSET_NAME": job, "POD_NAMESPACE": "flyte", "JOB_COMPLETION_INDEX": str(i), "NNODES": str(n),
                       "JOBSET_RESTART_ATTEMPT": "0", "NPROC_PER_NODE": "8", "RDZV_BACKEND": "static"}, hosts[i], i)

    return Cluster("flyte", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("axlearn")
def axlearn(random, n):
    job = pod_name(random)
    hosts = [f"{job}-job-0-{i}.{job}" for i in range(n)]

    def member(i):
        return Member({"DISTRIBUTED_COORDINATOR": f"{hosts[0]}:8080", "NUM_PROCESSES": str(n), "PROCESS_ID": str(i)},
                      hosts[i], i)

    return Cluster("axlearn", n, member, hosts=hosts, nnodes=n, master=hosts[0])


def algorithms(n):
    return sorted(f"algo-{i + 1}" for i in range(n))


@manager("sagemaker")
def sagemaker_platform(_random, n):
    hosts = algorithms(n)

    def member(i):
        file = json.dumps({"current_host": hosts[i], "hosts": hosts, "network_interface_name": "eth0"})
        return Member({}, hosts[i], i, files={"/opt/ml/input/config/resourceconfig.json": file})

    return Cluster("sagemaker", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="file")


@manager("sagemaker")
def sagemaker_toolkit(_random, n):
    hosts = algorithms(n)

    def member(i):
        return Member({"SM_HOSTS": json.dumps(hosts), "SM_CURRENT_HOST": hosts[i], "SM_NUM_GPUS": "8"}, hosts[i], i)

    return Cluster("sagemaker", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="variables")


@manager("vertex")
def vertex(random, n):
    job = pod_name(random)
    pools = [[f"cmle-training-{job}-workerpool{k}-{i}" for i in range(size)] for k, size in enumerate([1, n - 1])]
    pools = [pool for pool in pools if pool]
    spec = {f"workerpool{k}": [f"{host}:2222" for host in pool] for k, pool in enumerate(pools)}
    if random.random() < 0.3:
        spec["workerpool2"] = ["server:2222"]
    hosts = sum(pools, [])

    def member(i):
        task = {"type": f"workerpool{min(i, 1)}", "index": max(i - 1, 0)}
        return Member({"CLUSTER_SPEC": json.dumps({"cluster": spec, "environment": "cloud", "task": task})}, hosts[i], i)

    return Cluster("vertex", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("awsbatch")
def awsbatch(random, n):
    ips = addresses(random, n)
    main = random.choice([0, 0, n - 1, random.randrange(n)])

    def member(i):
        env = {"AWS_BATCH_JOB_NUM_NODES": str(n), "AWS_BATCH_JOB_NODE_INDEX": str(i),
               "AWS_BATCH_JOB_MAIN_NODE_INDEX": str(main)}
        if i != main:
            env["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = ips[main]
        return Member(env, "127.0.0.1" if i == main else ips[i], i)

    # The main node is not told its own address.
    def master(member):
        return "127.0.0.1" if member.rank == main else ips[main]

    return Cluster("awsbatch", n, member, nnodes=n, master=master)


@manager("azurebatch")
def azurebatch(random, n):
    ips = addresses(random, n)

    def member(i):
        env = {"AZ_BATCH_HOST_LIST": ",".join(ips), "AZ_BATCH_NODE_LIST": ";".join(ips),
               "AZ_BATCH_MASTER_NODE": f"{ips[0]}:6000",
               "AZ_BATCH_IS_CURRENT_NODE_MASTER": "true" if i == 0 else "false"}
        return Member(env, ips[i], i, hostname=ips[i])

    return Cluster("azurebatch", n, member, hosts=ips, nnodes=n, master=ips[0])


@manager("azureml")
@launcher("azureml")
def azureml(random, n):
    names = any_names(random, n)
    counts = [random.choice([1, 2, 4])] * n

    def member(i):
        node, local = divmod(i, counts[0])
        return Member({
            "AZUREML_EXPERIMENT_ID": "e", "AZUREML_NODE_COUNT": str(n), "NODE_RANK": str(node),
            "AZ_BATCH_NODE_LIST": ";".join(names), "MASTER_ADDR": names[0], "MASTER_PORT": "9500",
            "RANK": str(i), "WORLD_SIZE": str(sum(counts)), "LOCAL_RANK": str(local),
        }, names[node], i)

    return Cluster("azureml", sum(counts), member, "task", "azureml", names, n, names[0])


@manager("trainjob")
def trainjob_torch(random, n):
    job = pod_name(random)
    hosts = [f"{job}-node-0-{i}.{job}" for i in range(n)]

    def member(i):
        return Member({"PET_NNODES": str(n), "PET_NODE_RANK": str(i), "PET_NPROC_PER_NODE": "auto",
                       "PET_MASTER_ADDR": hosts[0], "PET_MASTER_PORT": "29500",
                       "JOB_COMPLETION_INDEX": str(i)}, hosts[i], i)

    return Cluster("trainjob", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="torch")


@manager("trainjob")
def trainjob_jax(random, n):
    job = pod_name(random)
    hosts = [f"{job}-node-0-{i}.{job}" for i in range(n)]

    def member(i):
        return Member({"JAX_NUM_PROCESSES": str(n), "JAX_PROCESS_ID": str(i),
                       "JAX_COORDINATOR_ADDRESS": f"{hosts[0]}:29500"}, hosts[i], i)

    return Cluster("trainjob", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="jax")


@manager("pytorchjob")
def pytorchjob(random, n):
    job = pod_name(random)

    def member(i):
        host = f"{job}-worker-{i - 1}" if i else f"{job}-master-0"
        return Member({"PET_NNODES": str(n), "PET_NODE_RANK": str(i), "PET_NPROC_PER_NODE": "8",
                       "PET_MASTER_ADDR": f"{job}-master-0", "PET_MASTER_PORT": "23456",
                       "MASTER_ADDR": f"{job}-master-0", "MASTER_PORT": "23456",
                       "WORLD_SIZE": str(8 * n), "RANK": str(i)}, host, i)

    return Cluster("pytorchjob", n, member, nnodes=n, master=f"{job}-master-0")


@manager("jaxjob")
def jaxjob(random, n):
    job = pod_name(random)
    hosts = [f"{job}-worker-{i}" for i in range(n)]

    def member(i):
        return Member({"NUM_PROCESSES": str(n), "PROCESS_ID": str(i), "COORDINATOR_ADDRESS": hosts[0],
                       "COORDINATOR_PORT": "6666"}, hosts[i], i)

    return Cluster("jaxjob", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("xgboostjob")
def xgboostjob(random, n):
    n = max(n, 2)  # a master alone has none of these
    job = pod_name(random)
    hosts = [f"{job}-master-0"] + [f"{job}-worker-{i}" for i in range(n - 1)]

    def member(i):
        return Member({"MASTER_ADDR": hosts[0], "MASTER_PORT": "9999", "WORLD_SIZE": str(n), "RANK": str(i),
                       "WORKER_PORT": "9999", "WORKER_ADDRS": ",".join(hosts[1:])}, hosts[i], i)

    return Cluster("xgboostjob", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("lws")
def lws(random, n):
    group, tail = f"{pod_name(random)}-{random.randint(0, 12)}", domain(random)
    hosts = [f"{group}.{tail}"] + [f"{group}-{i}.{tail}" for i in range(1, n)]
    first = random.choice([0, 1])
    tpus = random.choice([{}, {"TPU_WORKER_HOSTNAMES": ",".join(hosts[first:])}])

    def member(i):
        return Member({"LWS_LEADER_ADDRESS": hosts[0], "LWS_GROUP_SIZE": str(n), "LWS_WORKER_INDEX": str(i)} | tpus,
                      hosts[i], i)

    return Cluster("lws", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("volcano")
def volcano(random, n):
    job = random.choice(["lm", "job-3"])
    masters = 1 if n > 1 and random.random() < 0.7 else 0
    tasks = {"master": masters, "worker": n - masters}
    hosts = [f"{job}-{task}-{i}.{job}" for task, size in tasks.items() for i in range(size)]
    common = {}
    for task, size in tasks.items():
        if size:
            mine = [h for h in hosts if h.startswith(f"{job}-{task}-")]
            common |= {f"VC_{task.upper()}_HOSTS": ",".join(mine), f"VC_{task.upper()}_NUM": str(size)}

    def member(i):
        index = str(i - masters if i >= masters else i)
        return Member(common | {"VC_TASK_INDEX": index, "VK_TASK_INDEX": index}, hosts[i], i,
                      hostname=hosts[i].partition(".")[0])

    return Cluster("volcano", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("volcano")
def volcano_files(random, n):
    """--inject-hosts-env=false: the hosts are in files alone."""
    task = random.choice(["worker", "my_task"])
    hosts = [f"lm-{task.replace('_', '-')}-{i}.lm" for i in range(n)]
    files = {f"/etc/volcano/{task}.host": "\n".join(hosts)}

    def member(i):
        return Member({"VC_TASK_INDEX": str(i)}, hosts[i], i, hostname=hosts[i].partition(".")[0], files=files)

    return Cluster("volcano", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="files")


@manager("volcano")
def volcano_pytorch(random, n):
    """The plugin pytorch: a third task's pods are no nodes; with the host's network, no name is a pod's."""
    host_network = n > 2 and random.random() < 0.5
    tasks = {"master": ["j-master-0.j"], "worker": [f"j-worker-{i}.j" for i in range(n - 1)],
             random.choice(["extra", "aa", "ps"]): [f"j-extra-{i}.j" for i in range(random.choice([1, 2, n]))]}
    hosts = tasks["master"] + tasks["worker"]
    common = {f"VC_{task.upper()}_HOSTS": ",".join(mine) for task, mine in tasks.items() if mine}

    def member(i):
        return Member(common | {"VC_TASK_INDEX": str(max(i - 1, 0)), "MASTER_ADDR": hosts[0], "MASTER_PORT": "23456",
                                "WORLD_SIZE": str(n), "RANK": str(i)}, hosts[i], i,
                      hostname=f"gpu{i}" if host_network else hosts[i].partition(".")[0])

    return Cluster("volcano", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="pytorch")


@manager("volcano")
def volcano_torchx(random, n):
    """A task for each replica, whose variables come in any order."""
    role = random.choice(["trainer", "main-2"])
    hosts = [f"x-{role}-{i}-0.x" for i in range(n)]
    names = [f"VC_{role.upper().replace('-', '_')}_{i}" for i in range(n)]
    order = random.sample(range(n), n)
    common = {f"{names[i]}_HOSTS": hosts[i] for i in order} | {f"{names[i]}_NUM": "1" for i in order}

    def member(i):
        return Member(common | {"VC_TASK_INDEX": "0"}, hosts[i], i, hostname=hosts[i].partition(".")[0])

    return Cluster("volcano", n, member, hosts=hosts, nnodes=n, master=hosts[0], about="TorchX")


@manager("tpu")
def tpu(random, n):
    name = pod_name(random)
    hosts = [f"{name}-{i}.{name}" for i in range(n)]

    def member(i):
        return Member({"TPU_WORKER_HOSTNAMES": ",".join(hosts), "TPU_WORKER_ID": str(i)}, hosts[i], i)

    return Cluster("tpu", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("tfjob")
def tfjob(random, n):
    job, tail = pod_name(random), domain(random)
    chief = 1 if n > 1 and random.random() < 0.5 else 0
    hosts = [f"{job}-chief-0.{tail}"] * chief + [f"{job}-worker-{i}.{tail}" for i in range(n - chief)]
    spec = {"worker": [f"{h}:2222" for h in hosts[chief:]]}
    if chief:
        spec["chief"] = [f"{hosts[0]}:2222"]
    if random.random() < 0.3:
        spec["ps"] = [f"{job}-ps-0.{tail}:2222"]

    def member(i):
        task = {"type": "chief" if i < chief else "worker", "index": i if i < chief else i - chief}
        config = json.dumps({"cluster": spec, "task": task, "environment": "cloud"})
        return Member({"TF_CONFIG": config}, hosts[i], i)

    return Cluster("tfjob", n, member, hosts=hosts, nnodes=n, master=hosts[0], kept=("TF_CONFIG",))


@manager("pai")
def pai(random, n):
    job = f"dlc{random.randint(1, 99)}abc"
    local = random.random() < 0.3

    def member(i):
        name = f"{job}-worker-{i - 1}" if i else f"{job}-master-0"
        return Member({"MASTER_ADDR": "localhost" if local and i == 0 else f"{job}-master-0", "MASTER_PORT": "23456",
                       "WORLD_SIZE": str(n), "RANK": str(i), "NPROC_PER_NODE": "8"}, "localhost" if local and i == 0 else name, i, hostname=name)

    def master(member):
        return "localhost" if local and member.rank == 0 else f"{job}-master-0"

    return Cluster("pai", n, member, nnodes=n, master=master)


@manager("mpijob")
def mpijob(random, n):
    job, slots = pod_name(random), random.choice([1, 8])
    hosts = [f"{job}-worker-{i}.{job}.default.svc" for i in range(n)]
    name, form = random.choice([("OMPI_MCA_orte_default_hostfile", "{} slots={}"), ("I_MPI_HYDRA_HOST_FILE", "{}:{}"),
                                ("HYDRA_HOST_FILE", "{}:{}")])
    text = "".join(form.format(host, slots) + "\n" for host in hosts)

    def member(_i):
        return Member({"K_MPI_JOB_ROLE": "launcher", name: "/etc/mpi/hostfile"}, None, None,
                      files={"/etc/mpi/hostfile": text}, hostname=f"{job}-launcher")

    return Cluster("mpijob", 1, member, "allocation", hosts=hosts, nnodes=n, master=hosts[0])


@manager("determined")
def determined(random, n):
    chief = addresses(random, 1)[0]
    return Cluster("determined", n, lambda i: Member({"DET_CHIEF_IP": chief, "DET_SLOT_IDS": "[0,1]"}), master=chief)


@manager("indexedjob")
def indexedjob(random, n):
    job, tail = pod_name(random), f"{pod_name(random)}-svc.default.svc.cluster.local"
    named, sized = random.random() < 0.7, random.random() < 0.7
    hosts = [f"{job}-{i}.{tail}" for i in range(n)]

    def member(i):
        text = "127.0.0.1\tlocalhost\n"
        if named:
            text += f"10.244.1.7\t{hosts[i]}\t{job}-{i}\n"
        return Member({"JOB_COMPLETION_INDEX": str(i)}, hosts[i] if named else None, i,
                      [f"--nnodes={n}"] if sized else [], {"/etc/hosts": text}, f"{job}-{i}")

    return Cluster("indexedjob", n, member, hosts=hosts if named and sized else None, nnodes=n if sized else None,
                   master=hosts[0] if named else None, about=f"named: {named}, sized: {sized}")


@manager("nomad")
def nomad(_random, n):
    return Cluster("nomad", n, lambda i: Member({"NOMAD_ALLOC_INDEX": str(i), "NOMAD_GROUP_NAME": "train"}, None, i))
