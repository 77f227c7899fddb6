"""How many tokens make softmax linear: deviation over tilt and length, tokens by dimension."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["kind", "weights", "dimension", "tilt", "L", "relative_error"]
_SERIES = ((style.BLUE, "o"), (style.VERMILION, "s"), (style.GREEN, "^"))


def draw(table: pd.DataFrame) -> Figure:
    """Left the map with a contour at each tolerance, right the first length within each."""
    figure, (left, right) = style.panels(2, width=style.PAGE, height=2.9)
    required = table[table["kind"] == "required"]
    tolerances = sorted(required["relative_error"].unique())
    _map(figure, left, table, tolerances)
    _tokens(right, required, tolerances)
    return figure


def _map(figure: Figure, axes: Axes, table: pd.DataFrame, tolerances: list[float]) -> None:
    grid = table[table["kind"] == "map"].pivot(index="tilt", columns="L", values="relative_error")
    mesh = axes.pcolormesh(
        *(grid.columns, grid.index, grid.to_numpy()),
        **{"norm": LogNorm(vmax=1), "cmap": "cividis", "shading": "gouraud", "rasterized": True},
    )
    axes.contour(
        *(grid.columns, grid.index, grid.to_numpy(), tolerances),
        **{"colors": "white", "linewidths": 1},
    )
    row = grid.iloc[1]  # labels stand where the contours are nearly upright
    for tolerance in tolerances:
        place = float(np.interp(-tolerance, -row, row.index))
        axes.text(place, row.name, f" {tolerance:.2g}", color="white", fontsize=7)
    few = table[table["kind"] == "few"]
    axes.axvline(few["L"].iloc[0], color="white", linestyle=":", linewidth=0.9)
    trained = few[few["weights"] == "trained"]
    axes.plot(trained["L"], trained["tilt"], "*", color=style.ORANGE, markersize=8)
    axes.set(xscale="log", yscale="log", xlabel="prompt length $L$", ylabel=r"tilt $\lambda$")
    axes.set_title(f"relative deviation in norm, $d={grid_dimension(table)}$")
    figure.colorbar(mesh, ax=axes, pad=0.02, extend="max")


def grid_dimension(table: pd.DataFrame) -> int:
    """The dimension of the map."""
    return int(table[table["kind"] == "map"]["dimension"].iloc[0])


def _tokens(axes: Axes, required: pd.DataFrame, tolerances: list[float]) -> None:
    for (weights, rows), (colour, marker) in zip(
        required.groupby("weights", sort=False), _SERIES, strict=False
    ):
        tints = style.shades(colour, len(tolerances))
        for tint, (tolerance, curve) in zip(
            tints, rows.groupby("relative_error", sort=True), strict=False
        ):
            curve = curve.sort_values("dimension")
            axes.plot(
                *(curve["dimension"], curve["L"]),
                **{"color": tint, "marker": marker, "markersize": 3.2},
            )
            end = curve.iloc[-1]
            axes.annotate(
                f" {tolerance:.2g}", (end["dimension"], end["L"]), va="center", fontsize=7
            )
        axes.plot([], [], color=colour, marker=marker, markersize=3.2, label=f"{weights}")
    dimensions = np.unique(required["dimension"])
    axes.set(xscale="log", yscale="log", xlabel="dimension $d$", ylabel="tokens needed")
    axes.set_xticks(dimensions, [f"{d:g}" for d in dimensions])
    axes.minorticks_off()
    axes.margins(x=0.12)
    axes.legend(title="variance of the scores", title_fontsize=7, loc="upper right")
