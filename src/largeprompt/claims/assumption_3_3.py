"""Assumption 3.3: exponentially tilted moments of Gaussian tokens are polynomial in sigma."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["reading", "sigma", "tilt", "p", "q", "moment", "log_moment", "log_radial", "log_growth"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge finiteness and growth in sigma of both readings (see the registry)."""
    (table,) = tables
    tilted, control = (table[table["reading"] == r] for r in ("normalised", "unnormalised"))
    small = tolerance["relative"]
    agree = float((tilted["log_moment"] - tilted["log_radial"]).abs().max())
    missing = control[~np.isfinite(control["moment"])]
    kept = control[np.isfinite(control["moment"])]
    condition = missing["tilt"].ge(1).all() and kept["tilt"].lt(1).all()
    diverges = missing["log_growth"].gt(small).all() and kept["log_growth"].abs().le(small).all()
    holds = bool(_polynomial(tilted, small) and agree <= small)
    return Decision(
        measured=f"normalised: all {len(tilted)} moments finite, at most c sigma^(2p), two routes "
        f"agree to {agree:.1g}; unnormalised: finite exactly for sigma ||U|| < 1: "
        f"{'yes' if condition and diverges else 'no'} ({len(missing)} of {len(control)} infinite)",
        allowed=f"finite, no more than sigma^(2p), relative error {small:g}",
        control=Control(
            f"unnormalised moments up to sigma = {control['sigma'].max():g}: "
            f"{len(missing)} infinite",
            failed=not _polynomial(control, small),
        ),
        holds=holds if condition and diverges else None,
        refuted=not holds,
        numbers={"agreement": agree, "infinite": len(missing)},
    )


def _polynomial(rows: pd.DataFrame, small: float) -> bool:
    """Whether every moment is finite and, over sigma^(2p), does not grow with sigma >= 1."""
    if not np.isfinite(rows["moment"]).all() or (rows["log_growth"].abs() > small).any():
        return False
    scaled = rows.assign(scaled=rows["log_moment"] - 2 * rows["p"] * np.log(rows["sigma"]))
    wide = scaled.pivot(index=["p", "q"], columns="sigma", values="scaled")
    return bool((wide.diff(axis=1).iloc[:, 1:] <= small).all().all())
