"""What the rules on trained models share: a quantity at the shortest and the longest prompt."""

import pandas as pd


def ends(table: pd.DataFrame, run: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows at the shortest and at the longest L of the table, of the runs that have both."""
    shortest, longest = table["L"].min(), table["L"].max()
    first, last = (table[table["L"] == L].set_index(run) for L in (shortest, longest))
    both = first.index.intersection(last.index)
    return first.loc[both], last.loc[both]
