"""Theorem 5.1 at finite prompts: training reaches the Bayes risk within eps for L >= L(eps)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims import theorem_4_3
from largeprompt.claims.decision import Control, Decision

COLUMNS = theorem_4_3.COLUMNS


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the excess over the Bayes risk from the theorem's start (see the registry)."""
    (table,) = tables
    table = table[table["start"] == "theorem"]
    trained = table[table["series"] == "trained"]
    converged = trained[trained["quantity"] == "converged"]["value"]
    longest = trained[trained["L"] == trained.loc[np.isfinite(trained["L"]), "L"].max()]
    last = longest.pivot(index="case", columns="quantity", values="value")
    lengths = theorem_4_3.lengths_for(table, "trained", "bayes_excess")
    identity = theorem_4_3.lengths_for(table, "identity", "bayes_excess")
    met = np.isfinite(lengths).all(axis=1)
    products = last["product_error"] <= tolerance["product"]
    smallest = lengths.columns.min()
    return Decision(
        measured=f"{met.sum()} of {len(lengths)} cases reach the Bayes risk within every eps from "
        f"{lengths.columns.max():g} to {smallest:g} by L = {lengths[smallest].max():.2g}; at the "
        f"longest prompt b A is within {last['product_error'].max():.1g} of Sigma^-1, but (A, b) "
        f"{last['distance'].min():.2g} to {last['distance'].max():.2g} from (A*, b*)",
        allowed=f"every case; b A within {tolerance['product']:g} at the longest prompt",
        control=Control(
            f"identity in place of b A: {np.isfinite(identity).all(axis=1).sum()} of "
            f"{len(identity)} cases",
            failed=len(identity) > 0 and not np.isfinite(identity).all(axis=1).any(),
        ),
        holds=bool(met.all() and products.all()) if converged.all() else None,
        numbers={
            "cases": len(lengths),
            "smallest_eps": smallest,
            "largest_length": lengths[smallest].max() if met.all() else -1.0,
            "product_error": last["product_error"].max(),
            "smallest_distance": last["distance"].min(),
            "largest_distance": last["distance"].max(),
            "above_best": trained[trained["quantity"] == "above_best"]["value"].max(),
        },
    )
