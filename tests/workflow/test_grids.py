"""Grids of Section 6: which models they name, and that they share trainings and nothing else."""

from itertools import product

import yaml
from checkouts import ROOT, SMOKE

from lib.grids import Model, finite_paths, infinite_paths, models, of_case
from lib.registry import on_grid

ENTRY = {
    "variants": ["as-stated", "as-coded"],
    "covariances": ["ar1"],
    "starts": ["random"],
    "lengths": [20, 10],
    "seeds": [327, 1],
}
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def test_entry_is_the_product_of_its_lists():
    expected = product(["as-stated", "as-coded"], ["ar1"], ["random"], [10, 20], [1, 327])
    assert models([ENTRY]) == sorted(Model(*values) for values in expected)


def test_model_of_two_entries_counts_once_and_order_does_not_matter():
    other = ENTRY | {"lengths": [10, 30]}
    both = models([ENTRY, other])
    assert both == models([other, ENTRY])
    assert len(both) == len(set(both)) == 12


def test_paths_name_both_kinds_of_attention_and_one_infinite_prompt_a_run():
    chosen = of_case(models([ENTRY]), "as-coded", "ar1")
    finite = finite_paths("{attention}/{variant}/L={L}/seed={seed}", chosen)
    assert len(finite) == len(set(finite)) == 8
    assert {path.split("/")[0] for path in finite} == {"softmax", "linear"}
    assert infinite_paths("{variant}/seed={seed}", chosen) == [
        "as-coded/seed=1",
        "as-coded/seed=327",
    ]


def test_claim_on_another_grid_reads_its_tables_and_has_a_target_of_its_own():
    entry = {"id": "x", "target": "results/claims/x.json", "tables": ["results/{grid}/t.csv"]}
    assert on_grid(entry, "default") == entry | {"tables": ["results/default/t.csv"]}
    paper = on_grid(entry, "paper")
    assert paper["tables"] == ["results/paper/t.csv"]
    assert paper["target"] == "results/claims/paper/x.json"
    plain = entry | {"tables": ["results/t.csv"]}
    assert on_grid(plain, "paper") == plain


def named(entries: list[dict]) -> int:
    """Models at finite prompts, counted without `grids.models`."""
    keys = ("variants", "covariances", "starts", "lengths", "seeds")
    return len({values for entry in entries for values in product(*(entry[k] for k in keys))})


def test_paper_trains_what_the_configuration_names(fresh):
    jobs = fresh.plan("paper").jobs
    grid = CONFIG["grids"]["paper"]
    assert jobs["train_finite"] == 2 * named(grid["sgd"])
    assert jobs["flow_finite"] == named(grid["sgd"] + grid["flow"])
    assert "plot_loss_vs_length" not in jobs
    assert jobs["plot_paper_loss_vs_length"] == 1


def test_grids_share_trainings_and_no_table(checkout):
    """The smoke grids are the same: after a run of the default one, `paper` trains nothing."""
    plan = checkout.plan("paper", *SMOKE)
    assert not {"train_finite", "train_infinite", "flow_finite", "flow_infinite"} & set(plan.jobs)
    assert plan.jobs["summarise_cases"] == 7
    written = [line for line in plan.text.splitlines() if line.strip().startswith("output: ")]
    assert written
    assert all("/paper/" in line for line in written)
