# SPDX-License-Identifier: Apache-2.0
"""Clusters of batch systems, and of files of hosts. Their launchers: jsrun, PALS, Flux, plain PMI."""

from cluster import Cluster, Member, any_names, domain_names, launcher, listed_names, manager, tasks_on
from makers_basic import openmpi, ranks_of


@manager("hostfile")
def hostfile(random, n):
    names = any_names(random, n)
    slots = random.choice([1, 4])
    form = random.choice(["{0}\n", "{0} slots={1}\n", "{0}:{1}\n", "# a comment\n{0}  slots={1} max-slots=9\n\n"])
    text = "".join(form.format(name, slots) for name in names)

    def member(i):
        return Member({}, names[i], i, ["--hostfile=@ROOT@/hosts"], {"/hosts": text}, names[i])

    return Cluster("hostfile", n, member, hosts=names, nnodes=n, master=names[0])


@manager("read")
def described(random, n):
    names = any_names(random, n)
    separator, told = random.choice([(",", ""), (";", "[;]"), (" ", "[ ]"), ("\n", r"[\n]")])
    numbered = random.random() < 0.5
    text = f"hosts{told}=ACME_NODES nnodes=ACME_COUNT job?=ACME_JOB" + " node-rank=ACME_INDEX" * numbered
    env = {"ACME_NODES": separator.join(names), "ACME_COUNT": str(n)}

    def member(i):
        index = {"ACME_INDEX": str(i)} if numbered else {}
        return Member({**env, **index}, names[i], i, [f"--read={text}"], hostname=names[i])

    return Cluster("read", n, member, hosts=names, nnodes=n, master=names[0])


def job_script(source, make_env):
    """A batch script: one process, on the first node."""

    def make(random, n):
        names = domain_names(random, n)
        env, files = make_env(random, names, tasks_on(random, n))
        return Cluster(source, 1, lambda i: Member(env, names[0], None, files=files, hostname=names[0]), "allocation",
                       None, names, n, names[0], about="script")

    return make


def ranks_in_job(source, which, make_env):
    """Ranks of a launcher in such a job."""

    def make(random, n):
        names = domain_names(random, n)
        env, files = make_env(random, names, tasks_on(random, n))
        variables, hosts = ranks_of(random, which, names)

        def member(i):
            return Member(env | variables(i), hosts[i], i, files=files, hostname=hosts[i])

        return Cluster(source, len(hosts), member, "task", which, names, n, names[0], about=which)

    return make


def slots_text(names, counts):
    return "".join(f"{name}\n" * count for name, count in zip(names, counts))


def lsf(random, names, counts):
    env = {"LSB_JOBID": str(random.randint(1, 9999999)), "LSB_JOBINDEX": "0"}
    if random.random() < 0.5:
        return env | {"LSB_MCPU_HOSTS": " ".join(f"{n} {c}" for n, c in zip(names, counts))}, {}
    return env | {"LSB_DJOB_HOSTFILE": "/hosts"}, {"/hosts": slots_text(names, counts)}


def pbs(random, names, counts):
    ending = random.choice(["\n", "\r\n"])
    text = slots_text(names, counts).replace("\n", ending)
    return {"PBS_JOBID": f"{random.randint(1, 99999)}.server", "PBS_NODEFILE": "/nodes",
            "PBS_ENVIRONMENT": "PBS_BATCH"}, {"/nodes": text}


def gridengine(random, names, counts):
    text = "".join(f"{name} {count} all.q@{name} <NULL>\n" for name, count in zip(names, counts))
    return {"JOB_ID": str(random.randint(1, 99999)), "PE_HOSTFILE": "/pe", "NHOSTS": str(len(names)),
            "SGE_ROOT": "/opt/sge", "ARC": "lx-amd64"}, {"/pe": text}


def cobalt(random, names, _counts):
    return {"COBALT_JOBID": str(random.randint(1, 99999)), "COBALT_NODEFILE": "/nodes"}, \
        {"/nodes": "".join(f"{name}\n" for name in names)}


def loadleveler(random, names, counts):
    return {"LOADL_HOSTFILE": "/hosts", "LOADL_STEP_ID": f"fr1n01.{random.randint(1, 999)}.0"}, \
        {"/hosts": slots_text(names, counts)}


def oar(random, names, counts):
    return {"OAR_JOB_ID": str(random.randint(1, 99999)), "OAR_NODEFILE": "/nodes"}, {"/nodes": slots_text(names, counts)}


def pjm(random, names, _counts):
    return {"PJM_JOBID": str(random.randint(1, 99999)), "PJM_O_NODEINF": "/nodes", "PJM_NODE": str(len(names))}, \
        {"/nodes": "".join(f"{name}\n" for name in names)}


def hyperqueue(random, names, _counts):
    return {"HQ_JOB_ID": str(random.randint(1, 99999)), "HQ_HOST_FILE": "/nodes", "HQ_NUM_NODES": str(len(names))}, \
        {"/nodes": "".join(f"{name}\n" for name in names)}


for _source in lsf, pbs, gridengine, cobalt, loadleveler, oar, pjm, hyperqueue:
    manager(_source.__name__)(job_script(_source.__name__, _source))
    manager(_source.__name__)(ranks_in_job(_source.__name__, "openmpi", _source))


@manager("flux")
@launcher("flux")
def flux(random, n):
    per_node = random.choice([1, 2, 4])
    size = n * per_node

    def member(i):
        return Member({"FLUX_JOB_ID": "\u0192D2e73NP", "FLUX_JOB_NNODES": str(n), "FLUX_JOB_SIZE": str(size),
                       "FLUX_TASK_RANK": str(i), "FLUX_TASK_LOCAL_ID": str(i % per_node)}, None, i)

    only = "127.0.0.1" if n == 1 else None
    return Cluster("flux", size, member, "task", "flux", [only] if only else None, n, only)


@manager("htcondor")
def htcondor(random, n):
    names = listed_names(random, n)[0] if random.random() < 0.7 else None
    slots = ",".join(f"slot{random.randint(1, 9)}@{name}" for name in names or [])
    env = {"_CONDOR_NPROCS": str(n), "_CONDOR_JOB_AD": "/dir_1/.job.ad"}
    files = {"/dir_1/.job.ad": f'Node = 1\nAllRemoteHosts = "{slots}"\n'} if names else {}

    def member(i):
        return Member(env | {"_CONDOR_PROCNO": str(i)}, names[i] if names else None, i, files=files)

    return Cluster("htcondor", n, member, hosts=names, nnodes=n, master=names[0] if names else None)


@launcher("pals")
def pals(random, n):
    names = listed_names(random, n)[0]
    per_node = random.choice([1, 2, 4])
    size = n * per_node

    def member(i):
        node, local = divmod(i, per_node)
        return Member({"PBS_JOBID": "12.server", "PBS_NODEFILE": "/nodes", "PALS_RANKID": str(i),
                       "PALS_LOCAL_RANKID": str(local), "PALS_NODEID": str(node), "PALS_LOCAL_SIZE": str(per_node),
                       "PMI_RANK": str(i), "PMI_SIZE": str(size), "PALS_APID": "3d3a5b3e"}, names[node], i,
                      files={"/nodes": slots_text(names, [per_node] * n)}, hostname=names[node])

    return Cluster("pbs", size, member, "task", "pals", names, n, names[0])


@launcher("pmi")
def pmi(_random, n):
    n = max(n, 2)  # a single rank shares its node with all
    return Cluster(None, n, lambda i: Member({"PMI_RANK": str(i), "PMI_SIZE": str(n)}, None, i), "task", "pmi")


@manager("spur")
@launcher("spur")
def spur(random, n):
    names = listed_names(random, n)[0]
    per_node = random.choice([1, 2, 4])
    size = n * per_node
    common = {"SPUR_JOB_ID": str(random.randint(1, 99999)), "SPUR_NODELIST": ",".join(names), "SPUR_NNODES": str(n),
              "SPUR_NTASKS": str(size), "SPUR_STEP_NUM_TASKS": str(size)}

    def member(i):
        env = common | {"SPUR_NODEID": str(i // per_node), "SPUR_PROCID": str(i), "SPUR_LOCALID": str(i % per_node)}
        twins = {name.replace("SPUR", "SLURM", 1): value for name, value in env.items()}
        return Member(env | twins, names[i // per_node], i)

    return Cluster("spur", size, member, "task", "spur", names, n, names[0])


@manager("spur")
def spur_script(random, n):
    names = listed_names(random, n)[0]
    common = {"SPUR_JOB_ID": str(random.randint(1, 99999)), "SPUR_NODELIST": ",".join(names), "SPUR_NNODES": str(n),
              "SPUR_NTASKS": str(n * 8)}
    return Cluster("spur", n, lambda i: Member(common | {"SPUR_NODEID": str(i)}, names[i], i), hosts=names, nnodes=n,
                   master=names[0])


@manager("crane")
@launcher("crane")
def crane(random, n):
    names = listed_names(random, n)[0]
    per_node = random.choice([1, 2, 4])
    size = n * per_node
    job = str(random.randint(1, 99999))
    common = {"CRANE_JOB_ID": job, "CRANE_JOB_NODELIST": ";".join(names), "CRANE_NTASKS": str(size),
              "PMIX_NAMESPACE": f"crane.pmix.{job}.0"}

    def member(i):
        return Member(common | {"CRANE_PROCID": str(i), "PMIX_RANK": str(i), "CRANE_NODEID": str(i // per_node)},
                      names[i // per_node], i)

    return Cluster("crane", size, member, "task", "crane", names, n, names[0])
