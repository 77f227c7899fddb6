"""Prop 3.1: how much of the factor sigma^6 ln(L) Gaussian tokens need."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.claims.prop_3_1_constants import COLUMNS as COLUMNS
from largeprompt.claims.prop_3_1_constants import settled


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the growth of c1 for sigma^4 alone and for sigma^3 (see the registry)."""
    (table,) = tables
    table = table[table["part"] == tolerance["part"]]
    found = {
        power: _growth(table[(table["sigma_power"] == power) & (table["log_power"] == logs)])
        for power, logs in ((6, 1), (4, 0), (3, 0))
    }

    def fits(power: int) -> bool:
        in_length, in_sigma, _ = found[power]
        return in_length <= 1 + tolerance["relative"] and in_sigma <= tolerance["sigma_growth"]

    return Decision(
        measured=f"with sigma^4 and no logarithm c1 = {found[4][2]:.3g}, growing like "
        f"sigma^{found[4][1]:.2g} at the largest sigma and {found[4][0]:.3g}-fold in L; with the "
        f"paper's factor c1 falls like sigma^{found[6][1]:.2g}",
        allowed=f"at most sigma^{tolerance['sigma_growth']:g}, not at all in L",
        control=Control(f"with sigma^3: growing like sigma^{found[3][1]:.2g}", failed=not fits(3)),
        holds=fits(4),
        refuted=False,  # no finite range can show growth without end
        numbers={"sigma_4": found[4][1], "sigma_3": found[3][1], "sigma_6_log": found[6][1]},
    )


def _growth(rows: pd.DataFrame) -> tuple[float, float, float]:
    """The worst operator's growth of c1 in L and in sigma, and c1 itself."""
    return settled(rows).max(), rows["sigma_growth"].max(), rows["c1"].max()
