# SPDX-License-Identifier: Apache-2.0
"""Platforms that name their nodes by variables of their own: a row each, mostly."""

from cluster import Cluster, Member, addresses, any_names, launcher, manager, pod_name
from makers_basic import MPI, alone, in_job


def listed(name, variables):
    """A manager that lists the hosts: variables(hosts, i) of node i."""

    @manager(name)
    def make(random, n):
        hosts = addresses(random, n)

        def member(i):
            return Member(variables(hosts, i), hosts[i], i)

        return Cluster(name, n, member, hosts=hosts, nnodes=n, master=hosts[0])

    make.__qualname__ = name


def mastered(name, variables):
    """A manager that tells the master and numbers: variables(master, n, i) of node i."""

    @manager(name)
    def make(random, n):
        names = any_names(random, n)

        def member(i):
            return Member(variables(names[0], n, i), names[i], i)

        return Cluster(name, n, member, nnodes=n, master=names[0])

    make.__qualname__ = name


listed("dstack", lambda hosts, i: {
    "DSTACK_NODES_IPS": "\n".join(hosts), "DSTACK_MASTER_NODE_IP": hosts[0], "DSTACK_NODE_RANK": str(i),
    "DSTACK_NODES_NUM": str(len(hosts)), "DSTACK_GPUS_PER_NODE": "8"})
listed("volcengine", lambda hosts, i: {
    "MLP_WORKER_ALL_HOSTS": ",".join(hosts), "MLP_WORKER_0_HOST": hosts[0], "MLP_WORKER_0_PORT": "2222",
    "MLP_WORKER_NUM": str(len(hosts)), "MLP_ROLE": "worker", "MLP_ROLE_INDEX": str(i), "MLP_WORKER_GPU": "8"})
listed("taiji", lambda hosts, i: {
    "NODE_IP_LIST": ",".join(f"{h}:8" for h in hosts), "CHIEF_IP": hosts[0], "INDEX": str(i),
    "TAIJI_HOST_NUM": str(len(hosts)), "HOST_GPU_NUM": "8", "NODE_NUM": str(8 * len(hosts))})
listed("openpai", lambda hosts, i: {
    "PAI_TASK_ROLE_LIST": "worker", "PAI_TASK_ROLE_TASK_COUNT_worker": str(len(hosts)),
    "PAI_CURRENT_TASK_ROLE_NAME": "worker", "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX": str(i),
    **{f"PAI_HOST_IP_worker_{k}": host for k, host in enumerate(hosts)}})

listed("snowflake", lambda hosts, i: {
    "MLRS_NODE_IPS": ",".join(hosts), "MLRS_HEAD_IP": hosts[0], "MLRS_RDZV_PORT": "12031",
    "SNOWFLAKE_JOB_INDEX": str(i), "SNOWFLAKE_JOBS_COUNT": str(len(hosts))})
listed("tione", lambda hosts, i: {
    "NODE_LIST": ",".join(f"{h}:8" for h in hosts), "INDEX": str(i), "MASTER_ADDR": hosts[0], "MASTER_PORT": "23456",
    "WORLD_SIZE": str(len(hosts)), "RANK": str(i), "GPU_NUM_PER_NODE": "8"})

mastered("ngc", lambda master, n, i: {
    "NGC_ARRAY_INDEX": str(i), "NGC_ARRAY_SIZE": str(n), "NGC_MASTER_ADDR": master, "NGC_GPUS_PER_NODE": "8"})
mastered("sensecore", lambda master, n, i: {
    "SENSECORE_PYTORCH_NODE_RANK": str(i), "SENSECORE_PYTORCH_NNODES": str(n), "MASTER_ADDR": master,
    "MASTER_PORT": "23456"})
mastered("arnold", lambda master, n, i: {
    "ARNOLD_ID": str(i), "ARNOLD_WORKER_NUM": str(n), "ARNOLD_WORKER_0_HOST": master,
    "ARNOLD_WORKER_0_PORT": "10001,10002", "ARNOLD_WORKER_GPU": "8"})
mastered("brainpp", lambda master, n, i: {
    "KUBEBRAIN_REPLICA": str(i), "KUBEBRAIN_REPLICA_TOTAL": str(n), "MASTER_ADDR": master})
mastered("googlebatch", lambda master, n, i: {
    "BATCH_NODE_INDEX": str(i), "BATCH_NODE_COUNT": str(n), "BATCH_MAIN_NODE_HOSTNAME": master,
    "BATCH_TASK_COUNT": str(n)})
mastered("metaflow", lambda master, n, i: {
    "MF_MASTER_ADDR": master, "MF_MASTER_PORT": "3389", "MF_WORLD_SIZE": str(n), "JOB_COMPLETION_INDEX": "0",
    **({"MF_WORKER_REPLICA_INDEX": str(i - 1)} if i else {"MF_CONTROL_INDEX": "0"})})
mastered("metaflow", lambda master, n, i: {
    "MF_PARALLEL_MAIN_IP": master, "MF_PARALLEL_NUM_NODES": str(n), "MF_PARALLEL_NODE_INDEX": str(i)})
mastered("ascend", lambda master, n, i: {
    "MASTER_ADDR": master, "MASTER_PORT": "2222", "WORLD_SIZE": str(8 * n), "LOCAL_WORLD_SIZE": "8", "RANK": str(i),
    "LOCAL_RANK": "0,1,2,3,4,5,6,7"})
mastered("beaker", lambda master, n, i: {
    "BEAKER_REPLICA_RANK": str(i), "BEAKER_REPLICA_COUNT": str(n), "BEAKER_LEADER_REPLICA_HOSTNAME": master,
    "BEAKER_ASSIGNED_GPU_COUNT": "8"})
mastered("baseten", lambda master, n, i: {
    "BT_NODE_RANK": str(i), "BT_GROUP_SIZE": str(n), "BT_LEADER_ADDR": master, "BT_NUM_GPUS": "8"})
mastered("rbg", lambda master, n, i: {
    "RBG_LWP_WORKER_INDEX": str(i), "RBG_LWP_GROUP_SIZE": str(n), "RBG_LWP_LEADER_ADDRESS": master})
mastered("kthena", lambda master, n, i: {
    "WORKER_INDEX": str(i), "GROUP_SIZE": str(n), "ENTRY_ADDRESS": master})
mastered("vessl", lambda master, n, i: {
    "MASTER_ADDR": master, "MASTER_PORT": "23456", "NUM_NODES": str(n), "NUM_TRAINERS": "8", "RANK": str(i)})
mastered("mithril", lambda master, n, i: {
    "HEAD_NODE_IP": master, "NUM_NODES": str(n), "NODE_RANK": str(i), "GPU_COUNT": "8"})
for _count in "NNODES", "NUM_NODES", "NODE_COUNT":
    mastered("plain", lambda master, n, i, count=_count: {
        "MASTER_ADDR": master, "MASTER_PORT": "29400", "NODE_RANK": str(i), count: str(n), "WORLD_SIZE": str(8 * n)})


@manager("lepton")
def lepton(random, n):
    job = pod_name(random)
    hosts = [f"{job}-worker-{i}.{job}-svc" for i in range(n)]

    def member(i):
        return Member({"LEPTON_JOB_WORKER_INDEX": str(i), "LEPTON_JOB_TOTAL_WORKERS": str(n), "LEPTON_JOB_NAME": job,
                       "LEPTON_JOB_WORKER_PREFIX": f"{job}-worker", "LEPTON_SUBDOMAIN": f"{job}-svc"}, hosts[i], i)

    return Cluster("lepton", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("saturn")
def saturn(random, n):
    run, rest = pod_name(random), "jobs.main.svc.cluster.local"
    hosts = [f"{run}-{i}.{rest}" for i in range(n)]

    def member(i):
        return Member({"SATURN_JOB_RUN": run, "SATURN_JOB_RANK": str(i), "SATURN_JOB_SCALE": str(n),
                       "SATURN_JOB_LEADER": hosts[0], "SATURN_INTERNAL_SUBDOMAIN": "jobs",
                       "SATURN_NAMESPACE": "main"}, hosts[i], i)

    return Cluster("saturn", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("aibrix")
def aibrix(random, n):
    name = f"{pod_name(random)}-roleset-{'x7' * random.choice([1, 18, 22, 25])}-decode-0"
    # Shortened to 63 letters: the first one and the last 62.
    pods = [f"{name}-{i}" for i in range(n)]
    hosts = [f"{pod if len(pod) <= 63 else pod[0] + pod[-62:]}.llm" for pod in pods]

    def member(i):
        return Member({"PODSET_NAME": name, "POD_GROUP_INDEX": str(i), "POD_GROUP_SIZE": str(n),
                       "STORM_SERVICE_NAME": "llm"}, hosts[i], i)

    return Cluster("aibrix", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("paddlejob")
def paddlejob(random, n):
    job = pod_name(random)
    hosts = [f"{job}-worker-{i}" for i in range(n)]

    def member(i):
        return Member({"PADDLE_JOB_ID": job, "PADDLE_NNODES": str(n),
                       "PADDLE_MASTER": f"{hosts[0] if i else '10.244.1.5'}:36543"}, hosts[i], i, hostname=hosts[i])

    return Cluster("paddlejob", n, member, hosts=hosts, nnodes=n, master=hosts[0])


@manager("grove")
def grove(random, n):
    front, number, service = f"{pod_name(random)}-0-decode", random.randint(0, 20), "dyn-0.default.svc.cluster.local"
    leader, worker = random.choice([("decode-ldr", "decode-wkr"), ("leader", "worker")])
    group = f"{front}-{number}"
    hosts = [f"{group}-{leader}-0.{service}"] + [f"{group}-{worker}-{i}.{service}" for i in range(n - 1)]
    told = random.random() < 0.5

    def member(i):
        env = {"GROVE_PCLQ_NAME": f"{group}-{worker if i else leader}", "GROVE_PCLQ_POD_INDEX": str(max(i - 1, 0)),
               "GROVE_PCSG_NAME": front, "GROVE_PCSG_INDEX": str(number), "GROVE_HEADLESS_SERVICE": service}
        if told:
            env["GROVE_PCSG_TEMPLATE_NUM_PODS"] = str(n)
        return Member(env, hosts[i], i, options=[] if told else [f"--nnodes={n}"])

    return Cluster("grove", n, member, hosts=hosts, nnodes=n, master=hosts[0])


def horovod(rank, size, local, local_size, host):
    return {"HOROVOD_RANK": rank, "HOROVOD_SIZE": size, "HOROVOD_LOCAL_RANK": local,
            "HOROVOD_LOCAL_SIZE": local_size, "HOROVOD_HOSTNAME": host, "HOROVOD_GLOO_RENDEZVOUS_ADDR": "10.0.0.1"}


MPI["horovod"] = horovod
launcher("horovod")(alone("horovod"))
launcher("horovod")(in_job("horovod"))
