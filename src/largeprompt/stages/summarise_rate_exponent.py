"""How fast the error of Prop 3.1 decays: local exponents up to very long prompts, and limits."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from largeprompt.concentration import output_error
from largeprompt.rate_forms import class_exponent, fitted_exponent, naive_exponent
from largeprompt.rates import local_exponent, rate_exponent
from largeprompt.stages._job import Job
from largeprompt.tables import write_table
from largeprompt.three_atoms import three_atom_error

COLUMNS = ["curve", "tilt", "L", "exponent", "limit"]
_LIMITS = {"true": rate_exponent, "naive": naive_exponent, "class": class_exponent}
_CURVE_POINTS = 121


def run(job: Job) -> None:
    """Write exponents -d ln(error) / d ln(L) in d = 1.

    Curves: `gaussian` and `three-atoms`, local exponents of exact errors at each L; `fitted`, the
    slope of a straight line through the Gaussian errors at `fit_range`; `true`, `naive`, `class`,
    formulas for the limit, as functions of the tilt.
    """
    chosen = job.settings["rate_exponent"]
    lengths = np.unique(np.geomspace(2, chosen["longest"], chosen["points"]).round())
    first, last = chosen["fit_range"]
    fitted = np.geomspace(first, last, 13).round()
    tables = []
    for tilt in chosen["tilts"]:
        gaussian, limit = _gaussian(tilt), float(rate_exponent(tilt))
        exponents = local_exponent(lengths, gaussian(lengths))
        tables.append(_rows("gaussian", tilt, lengths, exponents, limit))
        slope = fitted_exponent(fitted, gaussian(fitted))
        tables.append(_rows("fitted", tilt, last, slope, limit))
        atoms = np.array([three_atom_error(tilt, L) for L in lengths])
        exponents = local_exponent(lengths, atoms)
        tables.append(_rows("three-atoms", tilt, lengths, exponents, float(class_exponent(tilt))))
        job.progress(f"tilt = {tilt} done, {len(chosen['tilts'])} in all")
    grid = np.geomspace(0.05, 2 * max(chosen["tilts"]), _CURVE_POINTS)
    tables += [_rows(n, grid, np.inf, form(grid), form(grid)) for n, form in _LIMITS.items()]
    write_table(job.outputs["table"], pd.concat(tables), job.run)


def _gaussian(tilt: float) -> Callable[[np.ndarray], np.ndarray]:
    one = np.eye(1)
    return lambda L: output_error(tilt * one, one, one, one, L)


def _rows(curve: str, tilt, L, exponent, limit) -> pd.DataFrame:
    columns = {"curve": curve, "tilt": tilt, "L": L, "exponent": exponent, "limit": limit}
    lengths = [np.size(x) for x in (tilt, L, exponent)]
    return pd.DataFrame(columns, index=range(max(lengths)))
