"""Interactive charts of a few summary tables: hover values, series on and off, logarithmic axes."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from largeprompt.figures import loss_vs_length as loss_figure
from largeprompt.figures import output_error as error_figure
from largeprompt.figures import rate_exponent as rate_figure
from largeprompt.figures import style

# Seen on a light page and on a dark one.
_GREY = "#808080"
_CYCLE = (
    *(style.VERMILION, style.BLUE, style.GREEN, style.ORANGE, style.SKY, style.PURPLE, _GREY),
)
_LIMITS = {
    "true": "theta(tilt), Gaussian tokens",
    "naive": "1 / (2 tilt)",
    "class": "1 / (4 tilt), sub-Gaussian class",
}
_INK = {**style.COLOURS, "infinite": _GREY}
_HOVER = (
    "%{fullData.name}<br>%{xaxis.title.text} %{x:,}<br>%{yaxis.title.text} %{y:.4g}<extra></extra>"
)


def loss_vs_length(table: pd.DataFrame) -> list[go.Figure]:
    """Loss at the horizon, and its excess over the infinite prompt, against L."""
    table = table[np.isfinite(table["L"]) | (table["attention"] == "infinite")]
    loss = table[table["quantity"].isin(["loss", "risk"])]
    excess = table[table["quantity"] == "minus_infinite"]
    return [
        _loss_chart(loss, "Loss at the horizon", "loss"),
        _loss_chart(excess, "Loss in excess of the infinite prompt", "excess loss"),
    ]


def _loss_chart(table: pd.DataFrame, title: str, quantity: str) -> go.Figure:
    lengths = table["L"][np.isfinite(table["L"])]
    chart = _chart(title, "L", quantity, lengths)
    for name, rows in _series(
        table, ["method", "attention", "start", "variant", "covariance", "seed"]
    ):
        method, attention = rows["method"].iloc[0], rows["attention"].iloc[0]
        colour = _INK[method if method in _INK else attention]
        if attention == "infinite":
            ends = pd.DataFrame(
                {"L": [lengths.min(), lengths.max()], "value": rows["value"].iloc[0]}
            )
            _line(chart, name, ends, "value", colour, "dash")
        elif rows["stderr"].max() > 0 and method == "sgd":
            _points(chart, name, rows, "value", colour)
        else:
            dash = "dot" if method == "optimum" else "solid"
            _line(chart, name, rows, "value", colour, dash)
    return chart


def output_error(table: pd.DataFrame) -> list[go.Figure]:
    """One chart a law: exact and simulated errors and the bound of Proposition 3.1."""
    charts = []
    for law, of_law in table.groupby("law"):
        chart = _chart(f"Mean square error, {law} tokens", "L", "error", of_law["L"])
        for colour, (sigma, rows) in zip(_cycle(), of_law.groupby("sigma"), strict=False):
            simulated, exact = (rows[rows["source"] == s] for s in ("simulation", "exact"))
            _points(chart, f"sigma = {sigma:g}, simulation", simulated, "error", colour)
            if len(exact):
                _line(chart, f"sigma = {sigma:g}, exact", exact, "error", colour, "solid")
            bounded = exact if len(exact) else simulated
            bounded = bounded[bounded["L"] >= 2]
            _line(chart, f"sigma = {sigma:g}, bound", bounded, "bound", colour, "dash")
        charts.append(chart)
    return charts


def rate_exponent(table: pd.DataFrame) -> list[go.Figure]:
    """Local exponents against L for each tilt, and their limits against the tilt."""
    lengths = table["L"][table["curve"] == "gaussian"]
    local = _chart("Local exponent of the error", "L", "exponent", lengths, log_y=False)
    for curve, dash in (("gaussian", "solid"), ("three-atoms", "dot")):
        tilts = table[table["curve"] == curve].groupby("tilt")
        for colour, (tilt, rows) in zip(_cycle(), tilts, strict=False):
            _line(local, f"{curve}, tilt = {tilt:g}", rows, "exponent", colour, dash)
    limits = _chart("Limit of the exponent", "tilt", "exponent", table["tilt"], log_y=False)
    for colour, (curve, name) in zip(_cycle(), _LIMITS.items(), strict=False):
        rows = table[table["curve"] == curve]
        _line(limits, name, rows, "limit", colour, "solid", x="tilt")
    fitted = table[table["curve"] == "fitted"].assign(stderr=0.0)
    _points(limits, "fitted to short prompts", fitted, "exponent", _GREY, x="tilt")
    return [local, limits]


# By figure: the columns that the charts need, and what draws them.
CHARTS: dict[str, tuple[list[str], Callable[[pd.DataFrame], list[go.Figure]]]] = {
    "loss_vs_length": (loss_figure.COLUMNS, loss_vs_length),
    "output_error": (error_figure.COLUMNS, output_error),
    "rate_exponent": (rate_figure.COLUMNS, rate_exponent),
}


def _series(table: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows of each combination of `keys`, named by those keys that tell combinations apart."""
    keys = [k for k in keys if k in table]
    told = [k for k in keys[2:] if table[k].nunique() > 2]
    for values, rows in table.groupby(keys):
        named = dict(zip(keys, values, strict=True))
        words = [str(named[k]) for k in keys[:2] if named[k] != "none"]
        words += [f"{k} {named[k]}" for k in told if named[k] != "none"]
        yield ", ".join(words), rows.sort_values("L")


def _cycle() -> Iterator[str]:
    while True:
        yield from _CYCLE


def _step(values: pd.Series) -> int:
    """Decades from tick to tick of a logarithmic axis, so that a narrow screen has room."""
    positive = values[np.isfinite(values) & (values > 0)]
    return max(1, math.ceil(math.log10(positive.max() / positive.min()) / 7))


def _chart(title: str, x: str, y: str, along: pd.Series, log_y: bool = True) -> go.Figure:
    """An empty chart; `along` holds the values on its x axis."""
    # "power" would write exponents by a style attribute, which the policy of the page forbids.
    axis = {"gridcolor": "rgba(128,128,128,0.25)", "zeroline": False, "exponentformat": "e"}
    logarithmic = {**axis, "type": "log"}
    return go.Figure(
        layout={
            "template": "none",
            "title": {"text": title, "font": {"size": 15}, "x": 0, "xref": "paper"},
            "xaxis": {
                **logarithmic,
                "dtick": _step(along),
                "title": {"text": x},
                "automargin": True,
            },
            "yaxis": {**(logarithmic if log_y else axis), "title": {"text": y}, "automargin": True},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "hovermode": "closest",
            "legend": {"orientation": "h", "x": 0, "y": 0, "yref": "container", "maxheight": 2000},
            "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
        }
    )


def _line(chart, name, rows, column, colour, dash, x="L") -> None:
    rows = rows.sort_values(x)
    chart.add_scatter(
        x=rows[x].tolist(),
        y=rows[column].tolist(),
        name=name,
        mode="lines",
        line={"color": colour, "dash": dash, "width": 2},
        hovertemplate=_HOVER,
    )


def _points(chart, name, rows, column, colour, x="L") -> None:
    """Measurements with bars of 2 standard errors."""
    chart.add_scatter(
        x=rows[x].tolist(),
        y=rows[column].tolist(),
        error_y={"array": (2 * rows["stderr"]).tolist(), "thickness": 1},
        name=name,
        mode="markers",
        marker={"color": colour, "size": 7},
        hovertemplate=_HOVER,
    )
