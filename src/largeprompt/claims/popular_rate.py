"""Popular claim: the deviation of softmax from linear attention decays as O~(1/sqrt(L)) in norm."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["kind", "tilt", "L", "relative_error"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the exponent at the longest prompts, tilt by tilt (see the registry)."""
    (table,) = tables
    curves = table[table["kind"] == "map"].sort_values("L").groupby("tilt")
    exponents = curves[["L", "relative_error"]].apply(_last_exponent)
    tilts = exponents.index.to_numpy(dtype=float)
    fast = exponents.to_numpy() >= 0.5 - tolerance["slack"]
    faster = exponents.to_numpy() >= 1 - tolerance["slack"]
    inside = tilts <= tolerance["tilt"]
    slowest = exponents.idxmin()
    return Decision(
        measured=f"exponent at least {exponents[inside].min():.3f} up to tilt "
        f"{tilts[inside].max():g}, {exponents[slowest]:.3f} at tilt {slowest:g}",
        allowed=f"1/2 - {tolerance['slack']:g}",
        control=Control(
            f"rate 1/L in norm: exponent at most {exponents.max():.3f}", failed=not faster.any()
        ),
        holds=bool(fast[inside].all()),
        literal_holds=bool(fast.all()),
        numbers={"inside": exponents[inside].min(), "slowest": exponents[slowest]},
    )


def _last_exponent(curve: pd.DataFrame) -> float:
    """-d ln(error) / d ln(L) between the two longest prompts."""
    steps = np.log(curve.iloc[-2:]).diff().iloc[-1]
    return -steps["relative_error"] / steps["L"]
