"""A SLURM cluster of one node on loopback: no systemd, cgroups, accounting or network.

The daemons are children in the foreground and end with the process that started them. Everything
lies in one temporary folder but slurm.conf: inside a job the executor plugin drops SLURM_CONF, so
the file must be where SLURM looks for it.
"""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

CONF = Path("/etc/slurm/slurm.conf")
CLUSTER = "largeprompt-test"
TEMPLATE = """\
ClusterName={cluster}
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=5
ReturnToService=2
# Ended jobs stay in squeue for an hour: without accounting nothing else knows how they ended.
MinJobAge=3600
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 {hardware} State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    """Why no cluster can be started here, if so."""
    if os.geteuid() != 0:
        return "a SLURM cluster is started by root alone"
    if not all(map(shutil.which, ("slurmctld", "slurmd", "munged"))):
        return "no SLURM here: bash tests/slurm/install.sh"
    if CONF.exists() and f"ClusterName={CLUSTER}\n" not in CONF.read_text(encoding="utf-8"):
        return f"{CONF} belongs to another cluster"
    return None


@contextmanager
def one_node_cluster() -> Iterator[Path]:
    """The folder of a cluster that is ready for jobs; at the end, daemons and jobs are gone."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="slurm-")))
        for name in ("state", "spool"):
            (folder / name).mkdir()
        stack.callback(CONF.unlink)
        CONF.write_text(
            TEMPLATE.format(cluster=CLUSTER, host=_host(), folder=folder, hardware=_hardware()),
            encoding="utf-8",
        )
        _start_munge(folder, stack)
        for daemon in ("slurmctld", "slurmd"):
            _start([daemon, "-D"], folder, stack)
        stack.callback(_cancel_everything, folder)
        _wait_for(lambda: _state() == "idle", "the node is not idle", folder)
        yield folder


def running_jobs() -> dict[str, str]:
    """Job id -> comment (the plugin's: rule and wildcards) of each running job."""
    lines = _slurm("squeue", "-h", "-t", "RUNNING", "-o", "%A %k").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def cancel(job: str) -> None:
    _slurm("scancel", job)


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _hardware() -> str:
    """CPUs and memory of this machine as slurmd counts them, such as CPUs=2 RealMemory=24105."""
    words = _slurm("slurmd", "-C").split()
    return " ".join(word for word in words if word.startswith(("CPUs=", "RealMemory=")))


def _start_munge(folder: Path, stack: ExitStack) -> None:
    """Credentials of its own: a munged that runs here already is left alone."""
    key = folder / "munge.key"
    key.touch(mode=0o400)
    key.write_bytes(secrets.token_bytes(128))
    paths = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed"}
    options = [f"--{option}={folder}/munge.{name}" for option, name in paths.items()]
    _start(["munged", "--foreground", "--force", *options], folder, stack)
    _wait_for((folder / "munge.socket").exists, "munged does not answer", folder)


def _start(command: list[str], folder: Path, stack: ExitStack) -> None:
    """Start a daemon that `stack` ends, and that ends with this process whatever becomes of it."""
    log = stack.enter_context((folder / f"{command[0]}.out").open("w"))
    daemon = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", *command], stdout=log, stderr=subprocess.STDOUT
    )
    stack.callback(_stop, daemon)


def _stop(daemon: subprocess.Popen) -> None:
    daemon.terminate()
    try:
        daemon.wait(20)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _cancel_everything(folder: Path) -> None:
    """Jobs end before the daemon that watches over them."""
    if jobs := _slurm("squeue", "-h", "-t", "PENDING,RUNNING", "-o", "%A").split():
        _slurm("scancel", *jobs)
        _wait_for(lambda: _state() == "idle", "jobs do not end", folder)


def _state() -> str:
    done = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def _wait_for(condition: Callable[[], bool], complaint: str, logs: Path) -> None:
    """Raises TimeoutError with what the daemons said."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            said = [path.read_text(errors="replace") for path in logs.glob("*.out")]
            raise TimeoutError("\n".join([f"{complaint} after a minute", *said]))
        time.sleep(0.1)


def _slurm(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
