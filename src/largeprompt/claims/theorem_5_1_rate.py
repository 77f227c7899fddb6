"""How fast the excess risk of a finite prompt decays at the weights that Theorem 5.1 ends at."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["law", "d", "weights", "L", "excess", "exponent", "predicted", "constant", "correction"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge 1/L at the end point of every d, and the repaired exponents (see the registry)."""
    (table,) = tables
    last = table.loc[table.groupby(["law", "weights", "d"])["L"].idxmax()]
    gaussian = last[last["law"] == "gaussian"]
    far = table[table["weights"] == "endpoint-far"]
    middle = far[far["L"] == far["L"].median()].set_index("d")
    slow, fast = middle[middle["constant"] == 0], middle[middle["constant"] > 0]
    departure = (slow["exponent"] + slow["correction"] - slow["predicted"]).abs()
    ratio = (fast["L"] * fast["excess"] / fast["constant"] - 1).abs()
    best = gaussian[gaussian["weights"].isin(["best", "linear"])]
    best_off = (best["exponent"] - 1).abs().max()
    others = last[last["law"] != "gaussian"].set_index("law")["exponent"]
    repaired = (
        (departure <= tolerance["exponent"]).all()
        and (ratio <= tolerance["constant"]).all()
        and best_off <= tolerance["exponent"]
    )
    literal = (middle["exponent"] + middle["correction"] >= 1 - tolerance["exponent"]).all()
    slowest = middle["predicted"].idxmin()
    at_horizon = gaussian[gaussian["weights"] == "endpoint"].set_index("d")["exponent"]
    exponents = ", ".join(
        f"{row['exponent'] + row['correction']:.3f} (d = {d})" for d, row in slow.iterrows()
    )
    return Decision(
        measured=f"exponents {exponents or 'none below 1'} at L = {middle['L'].max():.0e}, log "
        f"factor removed; L excess within {ratio.max():.1%} of its limit for other d; best "
        f"weights {1 - best_off:.3f} or nearer to 1",
        allowed=f"min(1, theta(1 / b^2)) within {tolerance['exponent']:g}, limits within "
        f"{tolerance['constant']:g}; as summarised: 1 for every d",
        control=Control(
            ", ".join(f"{law} tokens {value:.3f}" for law, value in others.items()),
            failed=len(others) > 0 and bool(((others - 1).abs() > tolerance["exponent"]).all()),
        ),
        holds=bool(repaired),
        literal_holds=bool(literal),
        refuted=False,  # the limit may be farther out
        numbers={
            "slowest_exponent": middle["exponent"][slowest] + middle["correction"][slowest],
            "slowest_dimension": slowest,
            "departure": departure.max() if len(slow) else 0.0,
            "constant_departure": ratio.max() if len(fast) else 0.0,
            "smallest_local_exponent": at_horizon.min(),
        },
    )
