"""The one job of a cluster: n ranks started by one command, so that they share a communicator."""

import shlex
import sys
from pathlib import Path

from course_lib.machines.ranks import launch
from course_lib.machines.ranks.profiles import settings
from course_lib.machines.ranks.profiles.ports import bind, free_ports

RANK = Path(__file__).with_name("rank.sh")
LAUNCHER = {"slurm": "SlurmEngineSetLauncher", "pbs": "PBSEngineSetLauncher"}
# mpiexec too starts the ranks of a job with srun, and would wait for it where there is none
SRUN = (
    'command -v srun > /dev/null || { echo "there is no srun in the PATH of the job: $PATH. '
    "Add its folder by commands = [...] in cluster.toml, as 'export PATH=/opt/slurm/bin:"
    "\\$PATH'\"; exit 1; }"
)
# name of a setting -> the line that asks for it
SLURM = {
    "partition": "--partition={}",
    "account": "--account={}",
    "time": "--time={}",
    "nodes": "--nodes={}",
    "ranks_per_node": "--ntasks-per-node={}",
    "cores_per_rank": "--cpus-per-task={}",
    "resources": "{}",
}
PBS = {"queue": "-q {}", "account": "-A {}", "time": "-l walltime={}"}


def configure(c, system, folder):
    """Fill the traitlets configuration c of an ipcluster whose profile folder is `folder`."""
    host, ports = settings.address(settings.read(system))
    c.Cluster.engine_launcher_class = system
    c.Cluster.delay = 0.0  # the address of the controller goes with the job
    c.Cluster.controller_ip = "*" if bind(host) == "0.0.0.0" else host
    c.Cluster.controller_location = host
    flags = [*launch.CONTROLLER[1:], "--HeartMonitor.period=400"]
    flags.append("--IPController.enable_curve=True")
    if ports:
        flags.append(f"--ports={','.join(map(str, free_ports(ports)))}")
    c.LocalControllerLauncher.controller_cmd = [sys.executable, "-c", launch.CONTROL + launch.MAIN]
    c.LocalControllerLauncher.controller_args = flags
    cancel = {"slurm": "scancel", "pbs": "qdel"}[system]  # there is no job where it was refused
    c[LAUNCHER[system]].delete_command = ["/bin/sh", "-c", f'[ -z "$0" ] || {cancel} "$0"']
    c[LAUNCHER[system]].engine_args = launch.ENGINE.format(60).split()
    c[LAUNCHER[system]].batch_file_name = str(Path(folder, "job.sh"))
    c[LAUNCHER[system]].batch_template_file = str(Path(folder, "job.template"))


def script(system, n, folder):
    """The job's text. {program_and_args}, one rank's command, is filled in by ipyparallel; other braces are doubled."""
    said, quoted = settings.read(system), shlex.quote
    before = [f"module load {quoted(module)}" for module in said.get("modules", ())]
    before += said.get("commands", ())
    start = said.get("start", f"{quoted(launch.mpiexec())} -disable-auto-cleanup -n {{n}}")
    start = start.replace("{n}", str(n))
    ended = quoted(str(Path(folder, "job.ended")))
    lines = [
        "#!/bin/bash -l" if before else "#!/bin/sh",  # a login shell knows `module`
        *{"slurm": slurm, "pbs": pbs}[system](said, n, folder),
        f"trap {quoted(f'touch {ended}')} EXIT",
        f"cd {quoted(str(Path.cwd()))} || exit",
        *(f"{command} || exit" for command in before),
        *([SRUN] if system == "slurm" and ("start" not in said or "srun" in start) else ()),
        f"{start} /bin/sh {quoted(str(RANK))} ",
    ]
    return "\n".join(lines).replace("{", "{{").replace("}", "}}") + "{program_and_args}\n"


def asked(said, known):
    lines = [line.format(said[name]) for name, line in known.items() if name in said]
    return lines + said.get("options", [])


def slurm(said, n, folder):
    """Lines for sbatch. A job that Slurm requeued would find no notebook."""
    log = str(Path(folder, "mpiexec.log")).replace("%", "%%")
    fixed = [f"--job-name={Path(folder).name}", f"--ntasks={n}", f"--output={log}"]
    fixed += ["--open-mode=append", "--no-requeue"]
    return [f"#SBATCH {line}" for line in fixed + asked(said, SLURM)]


def pbs(said, n, folder):
    """Lines for qsub. PBS keeps a job's output until its end: this one writes into the log itself."""
    nodes, cores = said.get("nodes", n), said.get("cores_per_rank", 1)
    ranks = said.get("ranks_per_node", -(-n // nodes))
    chunks = said.get("resources", f"select={nodes}:ncpus={ranks * cores}:mpiprocs={ranks}")
    fixed = [f"-N {Path(folder).name[:15]}", "-j oe", "-o /dev/null", "-r n", "-V", f"-l {chunks}"]
    log = shlex.quote(str(Path(folder, "mpiexec.log")))
    return [f"#PBS {line}" for line in fixed + asked(said, PBS)] + [f"exec >> {log} 2>&1"]
