"""Whether the interval for alpha in Theorem 5.1 is where the flow stops converging."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims import theorem_5_1
from largeprompt.claims.decision import Control, Decision

COLUMNS = [*theorem_5_1.COLUMNS, "proof_condition"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the flows that start outside of the interval or of the proof (see the registry)."""
    (table,) = tables
    theorem = table[table["start"] == "theorem"]
    good = theorem_5_1.ends_there(theorem, tolerance)
    outside = theorem["alpha_ratio"] >= 1
    gap = ~outside & (theorem["proof_condition"] >= 1)
    zero = table[table["start"] == "zero"]
    control = theorem_5_1.ends_there(zero, tolerance)
    tested = outside | gap
    return Decision(
        measured=f"{good[outside].sum()} of {outside.sum()} flows from outside the interval end "
        f"at the Bayes risk, up to {theorem['alpha_ratio'].max():g} times its end; "
        f"{good[gap].sum()} of {gap.sum()} from inside where the proof's condition fails",
        allowed=f"all; excess {tolerance['excess']:g}, the rest {tolerance['end_point']:g}",
        control=Control(
            f"alpha = 0: {control.sum()} of {len(zero)}, excess {zero['excess_ratio'].min():.2g}",
            failed=len(zero) > 0 and not control.any(),
        ),
        holds=bool(good[tested].all()) if outside.any() and gap.any() else None,
        numbers={
            "outside": outside.sum(),
            "outside_converged": good[outside].sum(),
            "beyond_proof": gap.sum(),
            "beyond_proof_converged": good[gap].sum(),
        },
    )
