"""The workflow as a user meets it: a whole run, everyday edits, bad input, labels."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from checkouts import SMOKE

from largeprompt.tables import read_table

LENGTHS = "lengths: [10, 20]"


def test_finished_run_has_every_figure_and_verdict(finished_run):
    smoke = finished_run / "smoke"
    registry = yaml.safe_load((finished_run / "workflow/claims.yaml").read_text(encoding="utf-8"))
    verdicts = {path.stem for path in (smoke / "results/claims").glob("*.json")}
    assert verdicts == {entry["id"] for entry in registry}
    figures = {entry["figure"] for entry in registry}
    for figure in figures:
        assert (smoke / f"figures/{figure}.pdf").stat().st_size > 5000
        assert (smoke / f"figures/{figure}.png").stat().st_size > 5000


def test_second_run_has_nothing_to_do(checkout):
    done = checkout.snakemake(*SMOKE)
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_smoke_run_is_labelled_in_every_table_and_verdict(finished_run):
    results = finished_run / "smoke/results"
    tables = list(results.rglob("*.csv"))
    assert tables
    assert {read_table(path, []).attrs["run"] for path in tables} == {"smoke"}
    verdicts = list(results.glob("claims/*.json"))
    assert {json.loads(path.read_text(encoding="utf-8"))["run"] for path in verdicts} == {"smoke"}


def test_smoke_run_writes_nothing_where_full_results_live(finished_run):
    assert not (finished_run / "results").exists()
    assert not (finished_run / "figures").exists()


def test_one_more_length_trains_one_model_per_attention(checkout):
    checkout.edit("smoke.yaml", LENGTHS, "lengths: [10, 15, 20]")
    jobs = checkout.plan().jobs
    assert jobs["train_finite"] == 2
    assert "train_infinite" not in jobs
    assert "generate_prompts" not in jobs
    assert "plot_operator_limit" not in jobs


def test_one_length_less_keeps_the_trainings(checkout):
    checkout.edit("smoke.yaml", LENGTHS, "lengths: [10]")
    jobs = checkout.plan().jobs
    assert "train_finite" not in jobs
    assert jobs["plot_loss_vs_length"] == 1


def test_another_alpha_leaves_the_random_start_alone(checkout):
    jobs = checkout.plan_with("theorem_start: {alpha: 0.5}").jobs
    assert jobs["draw_weights"] == jobs["flow_infinite"] == 1
    assert jobs["flow_finite"] == 1  # of softmax and linear attention
    assert "train_finite" not in jobs
    assert "train_infinite" not in jobs


def test_edited_softmax_operator_reruns_its_users_and_not_the_data(checkout):
    checkout.append("src/largeprompt/attention.py", "\nEDITED = 1\n")
    jobs = checkout.plan().jobs
    assert jobs["evaluate_operator_limit"] == jobs["evaluate_output_error"] == 2
    for rule in ("generate_tokens", "generate_prompts", "draw_weights", "train_finite"):
        assert rule not in jobs


def test_plot_style_edit_reruns_figures_and_their_report_only(checkout):
    checkout.edit("src/largeprompt/figures/style.py", "COLUMN = 3.25", "COLUMN = 3.3")
    jobs = checkout.plan().jobs
    assert jobs.pop("report") == 1
    assert jobs
    assert all(rule.startswith("plot_") for rule in jobs)


def test_swapped_values_of_one_section_are_noticed(checkout):
    """Snakemake compares params as an unordered set; here 64 prompts of 256 trade places."""
    text = "tokens: {prompts: 256, max_length: 64, queries: 4}\n"
    text += "operator_limit: {lengths: [1, 4, 16, 64]}\noutput_error: {lengths: [1, 4, 16, 64]}\n"
    assert "generate_tokens" in checkout.plan_with(text).causes


def test_reordered_keys_and_other_spellings_of_a_number_rerun_nothing(checkout):
    text = (
        "flow: {limit_time: 20.0}\ntheorem_start: {alpha: 4e-1}\ncovariances: {ar1: {rho: .50}}\n"
    )
    assert checkout.plan_with(text).empty


@pytest.mark.parametrize("text", ["\n# a remark\n", '\n\n"""Closing words."""\n'])
def test_comments_rerun_nothing(checkout, text):
    checkout.append("src/largeprompt/attention.py", text if text.startswith("\n#") else "\n# x\n")
    checkout.append("workflow/rules/train.smk", "\n# a remark\n")
    checkout.append("config.yaml", "\n# a remark\n")
    assert checkout.plan().empty


def test_touching_sources_data_and_config_reruns_nothing(checkout):
    for pattern in ("src/**/*.py", "workflow/**/*", "*.yaml", "smoke/results/data/**/*"):
        for path in checkout.path.glob(pattern):
            os.utime(path)
    assert checkout.plan().empty


def test_hash_seed_and_thread_count_rerun_nothing(checkout):
    assert checkout.plan(PYTHONHASHSEED="123", OMP_NUM_THREADS="2").empty


def test_deleted_intermediate_is_made_again(checkout):
    next(checkout.path.glob("smoke/results/train/finite/**/L=10/*.npz")).unlink()
    assert checkout.plan().jobs["train_finite"] == 1


def test_results_without_records_are_refused_until_vouched_for(checkout):
    """As after copying results into a clone: Snakemake alone would believe them for ever."""
    shutil.rmtree(checkout.path / "smoke/.snakemake")
    refused = checkout.snakemake("-n", *SMOKE)
    assert refused.returncode != 0
    assert "has no records in .snakemake" in refused.stderr
    touched = checkout.snakemake("--touch", "--forceall", *SMOKE)
    assert touched.returncode == 0, touched.stderr
    assert checkout.plan().empty
    assert checkout.plan_with("theorem_start: {alpha: 0.5}").causes == {"draw_weights"}


def test_edit_is_noticed_in_a_copy_whose_files_all_have_one_time(checkout):
    """As in an unpacked archive of sources, results and records."""
    for path in checkout.path.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert checkout.plan().empty
    checkout.append("src/largeprompt/flow.py", "\nEDITED = 1\n")
    plan = checkout.plan()
    assert {"flow_finite", "flow_infinite"} <= plan.causes
    assert "generate_tokens" not in plan.jobs


def test_one_figure_needs_only_its_own_rules(fresh):
    jobs = fresh.plan("figures/output_error.pdf", *SMOKE).jobs
    assert set(jobs) == {
        *("generate_tokens", "evaluate_output_error", "evaluate_exact_error", "evaluate_bound"),
        *("summarise_output_error", "plot_output_error"),
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--config", "sgd={'learning_rate': 0}"), "sgd.learning_rate = 0.0: must be > 0"),
        (("--config", "lenghts=5"), "unknown key lenghts"),
        (("--config", "sgd=5"), "sgd = 5: must be an object"),
        (
            ("--config", "length_generalisation={'lengths': 5}"),
            "must be an array; put nested values in a file",
        ),
    ],
)
def test_bad_configuration_stops_before_any_job_with_one_line(fresh, arguments, line):
    done = fresh.snakemake(*arguments)
    assert done.returncode != 0
    (shown,) = (x for x in done.stderr.splitlines() if x.startswith("config: "))
    assert line in shown
    assert "Traceback" not in done.stderr
    assert not (fresh.path / "results").exists()


def test_override_on_the_command_line_means_the_same_as_in_a_file(checkout):
    override = ("--config", "theorem_start={'alpha': '4e-1'}", "flow={'limit_time': '2e1'}")
    assert checkout.plan(*SMOKE, *override).empty
    other = ("--config", "flow={'limit_time': '30'}")
    assert checkout.plan(*SMOKE, *other).causes == {"flow_finite", "flow_infinite"}


def test_diverging_training_stops_with_step_loss_and_learning_rate(fresh):
    target = "results/train/finite/attention=linear/variant=as-stated/covariance=ar1/start=random"
    done = fresh.snakemake(
        *(f"{target}/L=10/seed=327.npz", *SMOKE, "--config", "sgd={'learning_rate': 90}"),
        "flow={'limit_time': 100000}",  # beyond the time of these steps
    )
    assert done.returncode != 0
    line = next(x for x in done.stderr.splitlines() if "training diverged" in x)
    for word in ("attention = linear", "L = 10", "step = ", "loss = ", "learning_rate = 90"):
        assert word in line
    assert not list((fresh.path / "smoke/results/train").rglob("*.npz"))


def test_damaged_table_stops_the_job_that_reads_it_and_is_named(checkout):
    table = checkout.path / "smoke/results/summary/output_error.csv"
    table.write_bytes(table.read_bytes()[:-40])
    done = checkout.snakemake("figures/output_error.pdf", *SMOKE, "--forcerun", "plot_output_error")
    assert done.returncode != 0
    *_, last = (x for x in done.stderr.splitlines() if x.startswith("plot_output_error failed: "))
    assert "results/summary/output_error.csv: content does not match its checksum" in last
    assert "delete this file and rerun snakemake" in last
    assert str(checkout.path / "smoke/logs/plot_output_error.log") in last
    assert last in done.stderr.splitlines()[-6:]


def test_claims_are_printed_with_their_times_and_the_label_of_the_run(finished_run):
    done = subprocess.run(
        [sys.executable, "-m", "lib.claims_table", "results/summary/claims.csv"],
        cwd=finished_run / "smoke",
        env={**os.environ, "PYTHONPATH": "../src:../workflow", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "SMOKE RUN" in done.stdout.splitlines()[0]
    assert re.search(r"^lemma-2\.1 .* \d+ s ", done.stdout, re.M)
