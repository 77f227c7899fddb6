"""How accurate the exact engine is: against multiprecision references, and against itself."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.concentration import gradient_u_error, gradient_v_error, output_error
from largeprompt.score_moments import ScoreMomentTable, score_moments
from largeprompt.score_quadrature import STEP
from largeprompt.score_sums import covariance_sums, participation, weight_sums

_SCALES = np.array([0.0, 0.1, 0.4, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 50.0])
_LENGTHS = np.array([1, 2, 10, 1000, 10**6, 10**12])
_TILTS = (0.1, 1.0, 4.0)
_TABLE_RANGE = 8.0


def accuracy_table(references: Sequence[Mapping]) -> pd.DataFrame:
    """Largest errors, one row for each function and check: function, check, points, error.

    `references` are rows with s, L, q, h (numbers or decimal strings). Errors of q and of the
    averaged errors are relative, all others absolute.
    """
    rows = [*_against(references), *_halved_steps(), *_tabulated(), *_query_averages()]
    return pd.DataFrame(rows, columns=["function", "check", "points", "error"])


def _against(references: Sequence[Mapping]) -> Iterable[tuple]:
    s, L, q, h = np.array([[float(row[k]) for k in ("s", "L", "q", "h")] for row in references]).T
    found = score_moments(s, L)
    yield "q", "multiprecision", s.size, np.abs(found.q / q - 1).max()
    yield "h", "multiprecision", s.size, np.abs(found.h - h).max()


def _halved_steps() -> Iterable[tuple]:
    functions = {
        participation: ("q", "kappa"),
        weight_sums: (None, None, "dq/d(s^2)", "dh/d(s^2)"),
        covariance_sums: ("A1", "beta", "A2", "q22", "tau"),
    }
    for sums, names in functions.items():
        coarse, fine = (
            np.array([sums(s, _LENGTHS, step) for s in _SCALES]) for step in (STEP, STEP / 2)
        )  # (scale, function, length)
        error = np.abs(coarse - fine)
        for i, name in enumerate(names):
            if name is not None:
                relative = fine[:, i] if name == "q" else 1.0
                yield name, "halved step", error[:, i].size, (error[:, i] / relative).max()


def _tabulated() -> Iterable[tuple]:
    s = np.linspace(0, _TABLE_RANGE, 41)
    errors = []
    for L in _LENGTHS.tolist():
        exact, found = score_moments(s, L), ScoreMomentTable(L, _TABLE_RANGE)(s)
        pairs = [(getattr(exact, n), getattr(found, n)) for n in ("q", "h", "dq", "dh")]
        errors.append([np.abs(x - y).max() for x, y in pairs])
    for name, error in zip(("q", "h", "dq", "dh"), np.max(errors, axis=0), strict=True):
        yield name, f"table on [0, {_TABLE_RANGE:g}]", s.size * _LENGTHS.size, error


def _query_averages() -> Iterable[tuple]:
    eye = np.eye(2)
    for function in (output_error, gradient_v_error, gradient_u_error):
        relative = []
        for tilt in _TILTS:
            U = np.sqrt(tilt) * np.diag([1.0, 0.3])
            value, error = function(eye, U, eye, eye, _LENGTHS, return_error=True)
            relative.append((error / value).max())
        count = len(_TILTS) * _LENGTHS.size
        yield function.__name__, "half the query points", count, max(relative)
