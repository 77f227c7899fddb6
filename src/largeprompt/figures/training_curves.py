"""Section 6: loss along training, softmax and linear attention beside the infinite prompt."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["method", "attention", "start", "L", "seed", "time", "loss"]


def draw(table: pd.DataFrame) -> Figure:
    """Loss against t = steps x learning rate, one panel for each kind of attention."""
    table = table[table["start"] == "random"]
    figure, axes = style.panels(2, width=style.PAGE, height=2.5, sharey=True)
    infinite = table[table["attention"] == "infinite"]
    for panel, attention in zip(axes, ("softmax", "linear"), strict=True):
        rows = table[table["attention"] == attention]
        lengths = sorted(rows["L"].unique())
        tints = style.shades(style.COLOURS[attention], len(lengths))
        for tint, L in zip(tints, lengths, strict=True):
            for i, (_, curve) in enumerate(rows[rows["L"] == L].groupby("seed")):
                label = f"$L={L:g}$" if i == 0 else None
                panel.plot(curve["time"], curve["loss"], color=tint, label=label)
        _infinite(panel, infinite)
        panel.set_xlim(left=rows["time"].min())
        panel.set(xscale="log", yscale="log", xlabel="time $t$ = steps × learning rate")
        style.plain_ticks(panel.yaxis)
        panel.set_title(f"{style.NAMES[attention]} attention")
        panel.legend(loc="lower left")
    axes[0].set_ylabel("loss $E\\,(\\hat y - y_q)^2$")
    return figure


def _infinite(panel, infinite: pd.DataFrame) -> None:
    styles = {"flow": ("-", "infinite prompt, flow"), "sgd": (":", "infinite prompt, SGD")}
    for method, (line, name) in styles.items():
        curves = infinite[infinite["method"] == method].groupby("seed")
        for i, (_, curve) in enumerate(curves):
            panel.plot(
                *(curve["time"], curve["loss"], line),
                **{"color": style.BLACK, "linewidth": 0.9, "label": name if i == 0 else None},
            )
