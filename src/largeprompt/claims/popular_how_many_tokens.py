"""Popular claim: the bounds tell how many tokens are needed until softmax is linear."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["bound", "sigma", "tolerance", "log10_tokens", "log10_needed"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge tokens by the bound over tokens needed: at least 1, at most `factor`."""
    (table,) = tables
    excess = (table["log10_tokens"] - table["log10_needed"]).groupby(table["bound"])
    lowest, highest = excess.min(), excess.max()
    tells = (lowest >= -np.finfo(np.float32).eps) & (highest <= np.log10(tolerance["factor"]))
    worst = table.loc[excess.get_group("envelope").idxmax()]
    return Decision(
        measured=f"Prop 3.1 with its best constants asks for 10^{lowest['envelope']:.1f} to "
        f"10^{highest['envelope']:.1f} times the tokens needed (sigma = {worst['sigma']:g}, "
        f"{worst['tolerance']:.1%}: 10^{worst['log10_tokens']:.1f} for "
        f"10^{worst['log10_needed']:.1f}); constants for one sigma alone: up to "
        f"10^{highest['own']:.1f} times; sharp bound: {10 ** highest['sharp']:.3g} times",
        allowed=f"1 to {tolerance['factor']:g} times",
        control=Control(
            f"one exponent for every sigma: 10^{lowest['sigma_free']:.1f} times the tokens needed",
            failed=bool(lowest["sigma_free"] < 0 and not tells["sigma_free"]),
        ),
        holds=bool(tells["envelope"]),
        refuted=bool(highest["envelope"] > np.log10(tolerance["factor"])),
        numbers={f"log10_{name}": highest[name] for name in ("envelope", "own", "sharp")},
    )
