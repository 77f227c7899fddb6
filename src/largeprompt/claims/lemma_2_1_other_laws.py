"""Beyond Lemma 2.1: other tokens have their own limit, and it is not the affine one."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["law", "limit", "quantity", "L", "value", "stderr"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge both limits of each law that is not Gaussian (see the registry)."""
    (table,) = tables
    rows = table.set_index(["limit", "quantity", "law"]).sort_index()
    own, affine, gap = (
        rows.loc[key] for key in (("own", "floor"), ("affine", "floor"), ("affine", "gap"))
    )
    z = tolerance["z"]
    arrives = own["value"].abs() <= z * own["stderr"]
    off = affine["value"] > z * affine["stderr"]
    error = (affine["stderr"] ** 2 + gap["stderr"] ** 2) ** 0.5
    exact = (affine["value"] - gap["value"]).abs() <= z * error
    passes = arrives & off & exact
    others, control = gap.drop("gaussian"), affine.loc["gaussian"]
    away = (own["value"].abs() / own["stderr"])[others.index].max()
    gaps = ", ".join(f"{law} {v:.3g}" for law, v in others["value"].items())
    precise = (own["stderr"] * z <= tolerance["precision"])[others.index].all()
    holds = bool(passes[others.index].all())
    return Decision(
        measured=f"affine formula off by {gaps} of the squared output; own limit reached within "
        f"{away:.2g} standard errors",
        allowed=f"off by more than 0, own limit off by 0, each by {z:g} standard errors",
        control=Control(
            f"gaussian: affine formula off by {control['value']:.2g} ± {control['stderr']:.1g}",
            failed=not passes["gaussian"],
        ),
        holds=holds if precise else None,
        refuted=not holds,
        numbers={law: float(v) for law, v in others["value"].items()},
    )
