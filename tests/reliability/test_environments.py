"""Hostile surroundings: each run comes out the same to the byte, or stops with one clear line and
loses nothing."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from checkouts import SMOKE, SNAKEMAKE, Checkout
from reliability.runs import (
    CONFIG,
    FIGURE,
    TARGETS,
    TRAINING,
    Run,
    differing,
    prepared,
    whole_files,
)

# What `snakemake` is told, in the order in which it takes several targets and a configuration.
COMMAND = shlex.join([str(SNAKEMAKE), *TARGETS, *CONFIG])
NOBODY = 65534
ROOT = os.geteuid() == 0
pytestmark = pytest.mark.usefixtures("counted")


@pytest.fixture
def counted(tally) -> None:
    tally("hostile environments passed")


def in_shell(
    checkout: Checkout, script: str, without: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if name not in without}
    return subprocess.run(
        ["sh", "-c", script],
        cwd=checkout.path,
        env=kept | environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=900,
    )


def check_same(place: Path, undisturbed: dict[str, bytes]) -> None:
    files = whole_files(place)
    assert files.keys() == undisturbed.keys()
    assert differing(files, undisturbed) == []


def check_run(
    checkout: Checkout,
    undisturbed: dict[str, bytes],
    script: str = COMMAND,
    without: tuple[str, ...] = (),
    **environment: str,
) -> None:
    """The run that `script` starts ends well, with the bytes of the undisturbed one."""
    done = in_shell(checkout, script, without, **environment)
    assert done.returncode == 0, done.stderr
    check_same(checkout.path / "smoke", undisturbed)


def allowed(*command: str) -> bool:
    """Whether this machine lets us run `command` (namespaces and mounts need rights)."""
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


WITHOUT_NETWORK = ("unshare", "-n", "true")
OWN_MOUNTS = ("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt")

VARIABLES = {
    "no home": (("HOME", "XDG_CACHE_HOME"), {}),
    "a home that cannot be written": (("XDG_CACHE_HOME",), {"HOME": "/dev/null/home"}),
    "no display and an unknown backend": (("DISPLAY",), {"MPLBACKEND": "nonsense"}),
    "a backend that needs a display": (("DISPLAY",), {"MPLBACKEND": "TkAgg"}),
    "locale C": (("LANG",), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "another hash seed": ((), {"PYTHONHASHSEED": "4242"}),
    "asserts switched off": ((), {"PYTHONOPTIMIZE": "1"}),
    "another time zone": ((), {"TZ": "Pacific/Kiritimati"}),
    "several threads": (("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), {"OMP_NUM_THREADS": "2"}),
}


# One variable after the other in the slow tests, all at once in the others.
EACH = [pytest.param([name], marks=pytest.mark.slow, id=name) for name in VARIABLES]
AT_ONCE = [name for name in VARIABLES if name not in ("no home", "a backend that needs a display")]


@pytest.mark.parametrize("names", [*EACH, pytest.param(AT_ONCE, id="all at once")])
def test_variables_of_the_environment_change_nothing(bare, undisturbed, names):
    without = {variable for name in names for variable in VARIABLES[name][0]}
    environment = {k: v for name in names for k, v in VARIABLES[name][1].items()}
    check_run(bare, undisturbed, COMMAND, tuple(without), **environment)


def test_path_may_hold_spaces_quotes_and_letters_of_any_script(tmp_path, undisturbed):
    path = tmp_path / 'it\'s a "prömpt" $(touch pwned); `touch pwned` λ'
    path.mkdir()
    check_run(prepared(path), undisturbed)
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.slow
def test_umask_that_hides_everything_changes_nothing(bare, undisturbed):
    check_run(bare, undisturbed, f"umask 077; {COMMAND}")


@pytest.mark.slow
def test_style_and_latex_of_the_user_do_not_reach_the_figures(bare, undisturbed):
    (bare.path / "matplotlibrc").write_text("text.usetex: True\nfont.size: 30\n")
    (bare.path / "smoke").mkdir()
    shutil.copy(bare.path / "matplotlibrc", bare.path / "smoke")
    check_run(bare, undisturbed, MATPLOTLIBRC=str(bare.path / "matplotlibrc"))


@pytest.mark.slow
@pytest.mark.skipif(not allowed(*WITHOUT_NETWORK), reason="may not leave the network")
def test_no_network_is_needed(bare, undisturbed):
    check_run(bare, undisturbed, f"unshare -n {COMMAND}")


@pytest.mark.slow
def test_sources_from_the_future_change_nothing(bare, undisturbed):
    """As after setting the clock back."""
    later = time.time() + 86400
    for path in bare.path.rglob("*"):
        os.utime(path, (later, later))
    check_run(bare, undisturbed)
    assert "Nothing to be done" in in_shell(bare, COMMAND).stderr


@pytest.mark.slow
def test_results_from_the_future_do_not_hide_an_edit(checkout):
    later = time.time() + 86400
    for path in (checkout.path / "smoke").rglob("*"):
        os.utime(path, (later, later))
    assert checkout.plan().empty
    assert "flow_finite" in checkout.plan_with("regression: {noise_variance: 0.2}").causes


@pytest.mark.slow
@pytest.mark.skipif(not ROOT, reason="only root can become another user")
def test_another_user_with_a_copy_of_his_own_gets_the_same(undisturbed):
    become = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
    python = shlex.quote(str(SNAKEMAKE.with_name("python")))
    if not allowed(*become.split(), "sh", "-c", f"{python} -c ''"):  # as a job is started
        pytest.skip("another user may not read this environment")
    with tempfile.TemporaryDirectory() as name:  # pytest's own directories are its user's alone
        path = Path(name)
        copy = prepared(path)
        for place in (path, *path.rglob("*")):
            os.chown(place, NOBODY, NOBODY)
        check_run(copy, undisturbed, f"{become} {COMMAND}", HOME="/nonexistent")


def read_only(then: str) -> str:
    """A script for a namespace of its own in which the working directory is read-only."""
    script = f'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && {then}'
    return f"unshare -m sh -c {shlex.quote(script)}"


@pytest.mark.skipif(not allowed(*OWN_MOUNTS), reason="may not mount")
def test_read_only_checkout_and_home_run_into_another_directory(bare, finished_run, tmp_path):
    """With the compiled trainer, which then can keep its machine code nowhere."""
    there = tmp_path / "there"
    command = shlex.join([str(SNAKEMAKE), TRAINING, *SMOKE, "--directory", str(there)])
    done = in_shell(bare, read_only(command), ("XDG_CACHE_HOME",), HOME="/dev/null/home")
    assert done.returncode == 0, done.stderr
    assert (there / TRAINING).read_bytes() == (finished_run / "smoke" / TRAINING).read_bytes()


@pytest.mark.skipif(not allowed(*OWN_MOUNTS), reason="may not mount")
def test_read_only_checkout_says_so_in_one_line(bare):
    done = in_shell(bare, read_only(f"{SNAKEMAKE} {FIGURE}"))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert f"{bare.path} cannot be written to: run elsewhere with --directory" in done.stderr


@pytest.mark.skipif(not allowed(*OWN_MOUNTS), reason="may not mount")
def test_full_disk_stops_the_run_and_more_room_lets_it_go_on(bare, undisturbed):
    (bare.path / "smoke").mkdir()
    script = f"""
        mount -t tmpfs -o size=160k none smoke || exit 3
        {COMMAND} > full.log 2>&1; echo $? > full.rc
        mkdir left; cp -a smoke/results smoke/figures left 2>/dev/null
        mount -o remount,size=64m smoke && {COMMAND} && cp -a smoke after"""
    done = in_shell(bare, f"unshare -m sh -c {shlex.quote(script)}")
    text = (bare.path / "full.log").read_text()
    assert (bare.path / "full.rc").read_text().strip() != "0"
    assert "No space left on device" in text
    assert differing(whole_files(bare.path / "left"), undisturbed) == []
    assert done.returncode == 0, done.stderr
    check_same(bare.path / "after", undisturbed)


def test_directory_called_default_is_named_and_nothing_runs(bare):
    """Snakemake takes it for its profile, before it reads any file of ours."""
    (bare.path / "default").mkdir()
    done = in_shell(bare, COMMAND)
    assert done.returncode != 0
    (line,) = (x for x in done.stderr.splitlines() if x.startswith("Error: "))
    assert "profile directory given (default), but no profile.yaml" in line
    assert "Traceback" not in done.stderr
    assert not (bare.path / "smoke").exists()


def test_interrupted_run_goes_on(bare, undisturbed):
    run = Run(bare)
    while run.poll() is None and not list(bare.path.glob("smoke/logs/train_finite/**/*.log")):
        time.sleep(0.01)
    run.signal_group(signal.SIGINT)
    text = run.ended()
    assert run.returncode != 0, text
    assert differing(whole_files(bare.path / "smoke"), undisturbed) == []
    check_run(bare, undisturbed)


@pytest.mark.slow
def test_jobs_that_outlive_their_killed_snakemake_do_no_harm(bare, undisturbed):
    """As after the kernel killed it for want of memory: its jobs go on beside the rerun."""
    run = Run(bare)
    while run.poll() is None and not list(bare.path.glob("smoke/logs/train_finite/**/*.log")):
        time.sleep(0.01)
    run.kill()
    run.wait()
    check_run(bare, undisturbed, f"{COMMAND} --unlock && {COMMAND}")


def test_two_runs_at_once_do_no_harm(bare, undisturbed):
    runs = [Run(bare) for _ in range(2)]
    texts = [run.ended() for run in runs]
    assert any(run.returncode == 0 for run in runs), texts
    for run, text in zip(runs, texts, strict=True):
        assert run.returncode == 0 or "LockException" in text
    check_same(bare.path / "smoke", undisturbed)
