"""Which of the models of a grid stand for it where there is room for one: figures of Section 6."""

import pandas as pd


def main_case(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the data (variant, covariance) on which SGD trained most, as-stated where two tie.

    Of the models those from random starts; references, which have none, stay.
    """
    sgd = table[table["method"] == "sgd"]
    rows = sgd.groupby(["variant", "covariance"]).size()
    variant, covariance = max(rows.index, key=lambda case: (rows[case], case))
    chosen = (table["variant"] == variant) & (table["covariance"] == covariance)
    return table[chosen & table["start"].isin(["random", "none"])]


def first_seed(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the seed that has most of them; references, which have none, stay."""
    seeds = table.loc[table["seed"].astype(str) != "none", "seed"]
    return table[table["seed"].isin([seeds.mode().iloc[0], "none"])]
