"""The pipeline as a module of another workflow, with that workflow's own settings."""

import subprocess
from pathlib import Path

import pytest
from checkouts import ROOT, SNAKEMAKE

from largeprompt.tables import read_table

WORKFLOW = """
configfile: "study.yaml"

module largeprompt:
    snakefile: config["snakefile"]
    config: config["largeprompt"]
    PREFIX

use rule * from largeprompt as largeprompt_*

rule all:
    default_target: True
    input: "copy.png"

rule copy_figure:
    input: "DIRECTORYfigures/effective_operator.png"
    output: "copy.png"
    shell: "cp {input:q} {output:q}"
"""
SETTINGS = """
snakefile: SNAKEFILE
largeprompt:
  run: {label: study}
  effective_operator: {lengths: [10, 30], points: 9}
"""


@pytest.fixture
def study(tmp_path) -> Path:
    (tmp_path / "study.yaml").write_text(SETTINGS.replace("SNAKEFILE", str(ROOT / "Snakefile")))
    return tmp_path


def snakemake(study: Path, prefix: str, *arguments: str) -> subprocess.CompletedProcess:
    text = WORKFLOW.replace("PREFIX", f'prefix: "{prefix}"' if prefix else "")
    text = text.replace("DIRECTORY", f"{prefix}/" if prefix else "")
    (study / "Snakefile").write_text(text)
    return subprocess.run(
        [SNAKEMAKE, "--cores", "1", *arguments],
        cwd=study,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_other_workflow_makes_a_figure_with_its_own_settings(study):
    done = snakemake(study, "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (study / "copy.png").stat().st_size > 5000
    table = read_table(study / "results/summary/effective_operator.csv", ["L", "s"])
    assert table.attrs["run"] == "study"
    assert set(table["L"]) == {10, 30}
    assert table["s"].nunique() == 9
    assert not (study / "results/train").exists()


def test_prefix_moves_every_file_of_the_module(study):
    done = snakemake(study, "part", "-n", "largeprompt_all", "largeprompt_verify")
    assert done.returncode == 0, done.stdout + done.stderr
    files = [x for x in done.stdout.splitlines() if x.startswith("    output:")]
    assert files
    assert all("part/" in x for x in files)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("points: 9", "points: 0", "config: effective_operator.points = 0: must be >="),
        ("points: 9", "pionts: 9", "config: effective_operator: unknown key pionts"),
    ],
)
def test_bad_settings_of_the_other_workflow_are_refused_in_one_line(study, old, new, line):
    file = study / "study.yaml"
    file.write_text(file.read_text().replace(old, new))
    done = snakemake(study, "", "-n")
    assert done.returncode != 0
    assert line in done.stderr
    assert "Traceback" not in done.stderr
