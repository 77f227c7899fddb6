"""What is said at the end of a run about the jobs that failed."""

import pytest

from lib.failures import failures

BLOCK = """[Tue Dec  1 01:58:08 2026]
Error in rule {rule}:
    message: None
    jobid: 3
    input: in.csv
    log: {log} (check log file(s) for error details)
    shell:
        python -m something
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run whose jobs `rule -> content of its log` failed (None: no log); its Snakemake log."""
    monkeypatch.chdir(tmp_path)

    def failed(**logs):
        for rule, content in logs.items():
            if content is not None:
                (tmp_path / f"{rule}.log").write_text(content)
        blocks = (BLOCK.format(rule=rule, log=f"{rule}.log") for rule in logs)
        (tmp_path / "snakemake.log").write_text("Building DAG\n" + "".join(blocks))
        return [tmp_path / "snakemake.log"]

    return failed


def test_each_failed_job_has_the_last_line_of_its_log_and_the_path(run, tmp_path):
    logs = run(train="step 1\nerror: diverged\n\n", plot="error: damaged\n")
    assert list(failures(logs)) == [
        f"train failed: error: diverged (log: {tmp_path / 'train.log'})",
        f"plot failed: error: damaged (log: {tmp_path / 'plot.log'})",
    ]


@pytest.mark.parametrize(("content", "said"), [(None, "it left no log"), ("", "its log is empty")])
def test_job_without_a_message_is_named_all_the_same(run, content, said):
    (line,) = failures(run(train=content))
    assert line.startswith(f"train failed: {said}")


def test_job_that_failed_twice_is_named_once(run):
    assert len(list(failures(run(train="x") * 2))) == 1
