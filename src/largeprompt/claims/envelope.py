"""A bound whose constant was set on short prompts, tried on longer ones and at L = 1."""

import pandas as pd

from largeprompt.claims.decision import Control, Decision


def judged(table: pd.DataFrame, z: float) -> Decision:
    """Judge `error` against `bound`, with `sigma_free_bound` as the control.

    Columns sigma, L, error, stderr, calibrates, bound, sigma_free_bound. The literal reading
    fails if the error at L = 1, where the bound is 0, is positive by `z` standard errors.
    """
    tests = table[(table["L"] >= 2) & ~table["calibrates"].astype(bool)]
    surely = tests["error"] - z * tests["stderr"]  # the error is at least this
    ratio, free_ratio = surely / tests["bound"], surely / tests["sigma_free_bound"]
    single = table[table["L"] == 1]
    witness = bool((single["error"] > z * single["stderr"]).any())
    worst = tests.loc[free_ratio.idxmax()]
    return Decision(
        measured=f"error / bound at most {ratio.max():.2g} on {len(tests)} longer prompts, "
        f"up to L = {tests['L'].max():.0e}",
        allowed=f"1, {z:g} standard errors granted; at L = 1 the bound is 0",
        control=Control(
            f"without sigma in the exponent: error / bound {free_ratio.max():.2g} "
            f"(sigma = {worst['sigma']:g}, L = {worst['L']:g})",
            failed=bool(free_ratio.max() > 1),
        ),
        holds=bool(ratio.max() <= 1),
        literal_holds=not witness,
        refuted=True,
        numbers={"ratio": ratio.max(), "sigma_free_ratio": free_ratio.max()},
    )
