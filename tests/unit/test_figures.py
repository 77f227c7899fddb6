"""Figures: same bytes on every rerun, fonts that publishers take, shortened runs marked."""

import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from largeprompt import figures
from largeprompt.figures import (
    bayes_convergence,
    bound_constants,
    controls,
    effective_operator,
    gradient_error,
    kernel_swap,
    length_generalisation,
    limits,
    loss_vs_length,
    neighbours,
    operator_limit,
    output_error,
    overview,
    prompt_length_map,
    rate_exponent,
    stated_vs_coded,
    trained_lengths,
    training_curves,
    trajectory,
    transfer,
    weights,
)
from largeprompt.figures.style import rendered, style
from largeprompt.main_case import first_seed, main_case
from largeprompt.stages import plot_figure


def tables() -> dict:
    """For each figure module a small table of its columns."""
    laws = [
        (law, limit, q, L, 0.5 / L, 0.01 / L)
        for law in ("gaussian", "rademacher")
        for limit in ("affine", "own")
        for q, L in (("distance", 1), ("distance", 100), ("floor", 100), ("gap", 100))
    ]
    errors = [
        ("gaussian", source, s, L, s / L, 0.1 / L, -1.0, 0.02, 5 * s / L)
        for source in ("simulation", "exact")
        for s in (1.0, 2.0)
        for L in (1, 10, 100)
    ]
    runs = [("sgd", "softmax", 10.0), ("sgd", "linear", 10.0), ("flow", "infinite", float("inf"))]
    case = ("as-stated", "ar1")
    curves = [(*case, m, a, "random", L, 327, t, 1 / t) for m, a, L in runs for t in (1.0, 2.0)]
    losses = [
        (*case, method, attention, "random", L, 327, quantity, 1 / L, 0.01 / L)
        for method, first in (("sgd", "loss"), ("flow", "risk"))
        for attention in ("softmax", "linear")
        for quantity in (first, "minus_infinite")
        for L in (10.0, 20.0)
    ]
    losses.append((*case, "flow", "infinite", "random", float("inf"), 327, "risk", 0.1, 0.0))
    losses += [
        (*case, "ridge", "none", "none", L, "none", "loss", 1 / L, 0.0) for L in (10.0, 20.0)
    ]
    heads = [
        (*case, method, attention, "random", L, 327)
        for method in ("sgd", "flow")
        for attention in ("softmax", "linear")
        for L in (10.0, 100.0)
    ]
    learned = [(*h, 2.0, q, 0, 0, 1 / h[5]) for h in heads for q in ("distance", "idle")]
    learned += [
        (*h, 2.0, "U", row, column, row - column)
        for h in heads
        if h[2] == "sgd"
        for row in (0, 1)
        for column in (0, 1)
    ]
    generalised = [(*h, L, 1 / L + 1 / h[5]) for h in heads for L in (10.0, 100.0)]
    ends = [
        (a, *case, "random", L, seed, 1 / L, 0.5 / L)
        for a in ("softmax", "linear")
        for L in (10.0, 100.0)
        for seed in (1, 2)
    ]
    variants = [
        ("ar1", method, attention, "random", L, 327, 1 / L, 0.1 / L, 2 / L, 0.1 / L)
        for method in ("sgd", "flow", "optimum")
        for attention in ("softmax", "linear")
        for L in (10.0, 100.0)
    ]
    panels = [
        ("lemma", law, "points", L, 1 / L, 0.1 / L) for law in ("gaussian", "x") for L in (1, 10)
    ]
    panels += [
        (panel, series, kind, L, 1 / L, 0.0)
        for panel, series, kind in (
            *(("concentration", 1.0, "line"), ("concentration", 1.0, "bound")),
            *(("trajectory", 10.0, "line"), ("loss", "ridge", "line")),
            *(("loss", "softmax", "line"), ("loss", "softmax", "points")),
        )
        for L in (1, 10)
    ]
    needed = [
        ("ar1", d, quantity, tolerance, d**2 / tolerance)
        for d in (1, 5)
        for quantity in ("softmax", "linear", "gap")
        for tolerance in (0.1, 0.3)
    ]
    moments = [
        (a, L, s, 0.9, 0.1 + s, 0.1 + s)
        for a in ("softmax", "linear")
        for L in (10, 100)
        for s in (0.0, 1.0)
    ]
    deviations = [
        ("map", "isotropic", 5, tilt, L, 1 / L) for tilt in (0.1, 0.2, 0.4) for L in (1, 10, 100)
    ]
    deviations += [("required", "1", d, 1 / d, 30 * d, 0.1) for d in (2, 4)]
    deviations.append(("few", "trained", 5, 0.2, 30, 0.1))
    sizes = {"linear": 0, "performer": 16, "linformer": 16}
    swaps = [
        (swap, size, L, "exact" if swap == "linear" else "simulation", 0.3, 0.1, 10)
        for swap, size in sizes.items()
        for L in (10.0, 100.0, float("inf"))
    ]
    constants = [
        (3, u, 6, 1, part, part, longest, part * longest, 1.0)
        for u in (0.5, 1.0)
        for part in (0.9, 1.5)
        for longest in (1e4, 1e8)
    ]
    laws_apart = [
        ("lemma", law, quantity, 100, 0.02, 0.001, 0.0)
        for law in ("gaussian", "cube")
        for quantity in ("affine floor", "own floor", "affine gap")
    ]
    laws_apart += [("concentration", "student", "spread", L, 2.0, 0.1, 9 / L) for L in (1, 10)]
    gradients = [
        (quantity, s, L, s / L, 9 * s / L)
        for quantity in ("output", "gradient_v", "gradient_u")
        for s in (1.0, 2.0)
        for L in (1, 10, 100)
    ]
    exponents = [
        (curve, tilt, L, 0.7, 0.6)
        for curve in ("gaussian", "three-atoms", "fitted", "true", "naive", "class")
        for tilt in (0.5, 1.0)
        for L in (10.0, 1e40)
    ]
    related = [
        (panel, series, int(series == "a"), L, 1 / L, 0.1 / L)
        for panel in ("gabet", "xu-fang")
        for series in ("a", "b")
        for L in (1.0, 10.0)
    ]
    related += [("bohbot", s, 1, x, 0.4, 0) for s in ("asymptotic", "form") for x in (0.1, 1.0)]
    convergence = [
        ("excess", series, d, L, float(d), 1)
        for series in ("endpoint", "best", "linear")
        for d in (1, 5)
        for L in (10.0, 100.0)
    ]
    convergence += [
        ("map", series, d, norm, 0.5 / norm, reached)
        for series, reached in (("flow", 1), ("flow", 0), ("interval", 1))
        for d in (1, 5)
        for norm in (0.5, 2.0)
    ]
    paths = [
        (model, "same", "path", L, quantity, t, t / L)
        for model in ("reduced", "factorised")
        for L in (10, 100)
        for quantity in ("distance", "log10_envelope", "sup_distance", "gradient_gap")
        for t in (0.5, 1.0)
    ]
    paths += [("reduced", "same", "ball", L, "risk_gap", 1.0, 1 / L) for L in (10, 100)]
    transfers = [
        ("d=1", "theorem", "trained", L, quantity, 1 / L)
        for L in (10.0, 100.0)
        for quantity in ("excess", "distance", "product_error")
    ]
    transfers += [("d=1", "theorem", "trained", 10 / e, "excess eps", e) for e in (0.1, 1.0)]
    transfers += [("d=1", "theorem", "zero", L, "excess", 1.0) for L in (10.0, 100.0)]
    return {
        transfer: pd.DataFrame(transfers, columns=transfer.COLUMNS),
        trajectory: pd.DataFrame(paths, columns=trajectory.COLUMNS),
        bayes_convergence: pd.DataFrame(convergence, columns=bayes_convergence.COLUMNS),
        bound_constants: pd.DataFrame(constants, columns=bound_constants.COLUMNS),
        controls: pd.DataFrame(laws_apart, columns=controls.COLUMNS),
        gradient_error: pd.DataFrame(gradients, columns=gradient_error.COLUMNS),
        rate_exponent: pd.DataFrame(exponents, columns=rate_exponent.COLUMNS),
        effective_operator: pd.DataFrame(moments, columns=effective_operator.COLUMNS),
        neighbours: pd.DataFrame(related, columns=neighbours.COLUMNS),
        operator_limit: pd.DataFrame(laws, columns=operator_limit.COLUMNS),
        output_error: pd.DataFrame(errors, columns=output_error.COLUMNS),
        prompt_length_map: pd.DataFrame(deviations, columns=prompt_length_map.COLUMNS),
        training_curves: pd.DataFrame(curves, columns=training_curves.COLUMNS),
        overview: pd.DataFrame(panels, columns=overview.COLUMNS),
        weights: pd.DataFrame(learned, columns=weights.COLUMNS),
        length_generalisation: pd.DataFrame(generalised, columns=length_generalisation.COLUMNS),
        limits: pd.DataFrame(ends, columns=limits.COLUMNS),
        stated_vs_coded: pd.DataFrame(variants, columns=stated_vs_coded.COLUMNS),
        trained_lengths: pd.DataFrame(needed, columns=trained_lengths.COLUMNS),
        kernel_swap: pd.DataFrame(swaps, columns=kernel_swap.COLUMNS),
        loss_vs_length: pd.DataFrame(losses, columns=loss_vs_length.COLUMNS),
    }


def test_every_figure_module_is_tried():
    package = Path(figures.__file__).parent
    drawing = {p.stem for p in package.glob("*.py") if "\ndef draw(" in p.read_text("utf-8")}
    assert {module.__name__.rpartition(".")[2] for module in tables()} == drawing


def drawn(module, table, format, label=None) -> bytes:
    with style():
        return rendered(module.draw(table), format, 100, label)


@pytest.mark.parametrize("module", tables(), ids=lambda m: m.__name__.rpartition(".")[2])
@pytest.mark.parametrize("format", ["pdf", "png"])
def test_same_table_gives_the_same_bytes_at_any_time_in_any_zone(module, format, monkeypatch):
    first = drawn(module, tables()[module], format)
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    time.sleep(1.1)  # dates in files have seconds
    try:
        assert drawn(module, tables()[module], format) == first
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("module", tables(), ids=lambda m: m.__name__.rpartition(".")[2])
def test_pdf_embeds_truetype_fonts_only(module):
    content = drawn(module, tables()[module], "pdf")
    assert re.search(rb"/Subtype /(TrueType|CIDFontType2)|/FontFile2", content)
    assert b"/Type3" not in content


def test_shortened_run_is_marked_on_the_figure():
    module, table = output_error, tables()[output_error]
    assert drawn(module, table, "png", "smoke") != drawn(module, table, "png")
    assert drawn(module, table, "png", "smoke") != drawn(module, table, "png", "trial")


def test_main_case_is_the_one_that_sgd_covers_best():
    rows = [
        (variant, "sgd", start, L)
        for variant, lengths in (("as-coded", (10,)), ("as-stated", (10, 20)))
        for start in ("random", "theorem")
        for L in lengths
    ]
    table = pd.DataFrame(rows, columns=["variant", "method", "start", "L"])
    chosen = main_case(table.assign(covariance="ar1"))
    assert list(chosen["L"]) == [10, 20]
    assert set(chosen["variant"]) == {"as-stated"}
    assert set(chosen["start"]) == {"random"}


def test_first_seed_keeps_the_references():
    table = pd.DataFrame({"seed": ["1", "327", "327", "none"]})
    assert list(first_seed(table)["seed"]) == ["327", "327", "none"]


def test_file_that_targets_name_is_written_when_all_others_are(monkeypatch):
    """A kill between the files then leaves that one missing, and the figure is drawn again."""
    written = []
    figure = SimpleNamespace(COLUMNS=[], draw=lambda table: None)
    monkeypatch.setitem(sys.modules, "largeprompt.figures.any", figure)
    monkeypatch.setattr(plot_figure, "read_table", lambda path, columns: None)
    monkeypatch.setattr(plot_figure, "rendered", lambda figure, format, dpi, label: format)
    monkeypatch.setattr(plot_figure, "write_whole", lambda path, content: written.append(path))
    plot_figure.run(
        SimpleNamespace(
            wildcards={"figure": "any"},
            outputs={"pdf": "any.pdf", "png": "any.png"},
            settings={"figures": {"dpi": 200}},
            run="full",
            input=lambda name: "any.csv",
        )
    )
    assert written == ["any.png", "any.pdf"]
