"""`snakemake verify`: a run gives the committed numbers, here and as on other machines."""

from pathlib import Path

import pytest
import yaml
from checkouts import SMOKE

from largeprompt.tables import read_json, read_table, write_table
from largeprompt.verification import tolerance_name
from lib.verification_list import read_verification

ROOT = Path(__file__).parents[2]
VERIFICATION = read_verification(ROOT / "workflow/verify.yaml")
TABLES = [(label, one) for label in ("", "smoke") for one in VERIFICATION["targets"]["verify"]]
REFERENCE = "reference/smoke/headline.csv"

# A machine with an older processor: no AVX, the kernels of 2008, another target for LLVM.
OLD_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
    "NUMBA_CPU_NAME": "generic",
}
THREADS = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}


def move(checkout, claim: str, number: str, factor: float) -> None:
    """Multiply one number of the smoke reference."""
    path = checkout.path / REFERENCE
    table = read_table(path, ["claim", "number", "value"])
    row = (table["claim"] == claim) & (table["number"] == number)
    assert row.sum() == 1
    table.loc[row, "value"] *= factor
    write_table(path, table, "smoke")


def missed(output: str) -> str:
    (line,) = (x for x in output.splitlines() if "missed" in x and x.startswith("print_"))
    return line


def test_run_gives_the_numbers_of_the_reference(checkout):
    done = checkout.snakemake("verify", *SMOKE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "within their tolerance of the smoke reference run" in done.stdout
    report = read_json(checkout.path / "smoke/results/verify.json", ["ok", "comparisons"])
    assert report["ok"]
    claims = yaml.safe_load((ROOT / "workflow/claims.yaml").read_text(encoding="utf-8"))
    verdicts, numbers = report["comparisons"]
    assert len(verdicts["rows"]) == len(claims)
    assert {row["quantity"].split()[0] for row in numbers["rows"]} == {c["id"] for c in claims}


def test_number_beyond_its_tolerance_is_missed_and_named(checkout):
    move(checkout, "prop-3.1", "ratio", 1 + 3e-6)  # allowed: 1e-6
    move(checkout, "section-6", "ratio", 1 + 1e-3)  # allowed: 2e-3
    done = checkout.snakemake("verify", *SMOKE)
    assert done.returncode != 0
    assert missed(done.stderr).endswith("missed: prop-3.1 ratio")
    assert "NO (exact)" in done.stdout
    assert not read_json(checkout.path / "smoke/results/verify.json", ["ok"])["ok"]


def test_run_without_a_reference_says_so_in_one_line(checkout):
    (checkout.path / REFERENCE).unlink()
    done = checkout.snakemake("verify", *SMOKE)
    assert done.returncode != 0
    assert f"{REFERENCE} is missing: this run has no reference" in done.stderr


def test_reference_can_be_written_anew_and_then_agrees(checkout):
    move(checkout, "prop-3.1", "ratio", 2)
    assert checkout.snakemake("write_reference", *SMOKE).returncode == 0
    assert read_json(checkout.path / "reference/smoke/provenance.json", ["commits", "packages"])
    assert checkout.snakemake("verify", *SMOKE).returncode == 0


@pytest.mark.parametrize(("label", "one"), TABLES)
def test_every_committed_number_has_a_tolerance(label, one):
    table = read_table(ROOT / "reference" / label / one["reference"], [*one["keys"], one["value"]])
    assert table.attrs["run"] == (label or "full")
    for key in table[one["keys"]].itertuples(index=False):
        assert tolerance_name(one["tolerance"], key) in VERIFICATION["tolerances"]


def test_every_tolerance_is_used():
    """By a number of the full reference; a tolerance that judges nothing misleads."""
    used = set()
    for one in VERIFICATION["targets"]["verify"]:
        table = read_table(ROOT / "reference" / one["reference"], one["keys"])
        keys = table[one["keys"]].itertuples(index=False)
        used |= {tolerance_name(one["tolerance"], key) for key in keys}
    assert used == set(VERIFICATION["tolerances"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cores", "environment"),
    [
        ("1", {"PYTHONHASHSEED": "1"}),
        ("2", {**THREADS, "PYTHONHASHSEED": "2"}),
        ("2", OLD_PROCESSOR),
        ("2", {**OLD_PROCESSOR, "ATEN_CPU_CAPABILITY": "avx2", "OPENBLAS_CORETYPE": "Haswell"}),
    ],
    ids=["one-core", "two-threads", "old-processor", "middle-aged-processor"],
)
def test_other_machines_give_the_numbers_of_the_reference(fresh, cores, environment):
    """A whole smoke run under each of them; see workflow/verify.yaml for what may differ."""
    done = fresh.snakemake("verify", "--cores", cores, *SMOKE, **environment)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
