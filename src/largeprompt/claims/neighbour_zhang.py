"""Zhang, Frei & Bartlett: the flow of linear attention at prompt length L ends in closed form."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["covariance", "noise_variance", "L", "alpha", "quantity", "value"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the largest distance of the end of the flow from the closed form (see the registry)."""
    (table,) = tables
    distances = table.groupby("quantity")["value"]
    worst, allowed = distances.max(), tolerance["distance"]
    of_form = max(worst["matrix"], worst["scale"])
    nearest = distances.min()["infinite"]
    return Decision(
        measured=f"distance from the closed form at most {worst['matrix']:.1e} in b A, "
        f"{worst['scale']:.1e} in b, {len(table) // 3} flows, L = {table['L'].min():g} to "
        f"{table['L'].max():g}",
        allowed=f"{allowed:g}, relative",
        control=Control(
            f"closed form of the infinite prompt: at least {nearest:.1e}",
            failed=bool(nearest > allowed),
        ),
        holds=bool(of_form <= allowed),
        refuted=False,
        numbers={"matrix": worst["matrix"], "scale": worst["scale"]},
    )
