"""Section 6: the learned products approach those of the infinite prompt."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.claims.section_6_runs import ends

COLUMNS = [
    *("variant", "covariance", "method", "attention", "start", "L", "seed", "quantity", "value"),
]
_RUN = ["variant", "covariance", "attention", "start", "seed"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge how the distance of B from Sigma^-1 shrinks with the prompt (see the registry)."""
    (table,) = tables
    table = table[(table["method"] == "sgd") & np.isfinite(table["L"])]
    ratios = {name: _ratios(table, name) for name in ("distance", "from_identity")}
    ratio, control = ratios["distance"].max(), ratios["from_identity"].min()
    return Decision(
        measured=f"distance from Sigma^-1 at the longest prompt is at most {ratio:.2g} of that at "
        f"the shortest, {len(ratios['distance'])} runs",
        allowed=f"{tolerance['ratio']:g}",
        control=Control(
            f"from the identity: at least {control:.2g}",
            failed=bool(control > tolerance["ratio"]),
        ),
        holds=bool(ratio <= tolerance["ratio"]),
        numbers={"ratio": ratio, "control_ratio": control},
    )


def _ratios(table: pd.DataFrame, quantity: str) -> pd.Series:
    first, last = ends(table[table["quantity"] == quantity], _RUN)
    return last["value"] / first["value"]
