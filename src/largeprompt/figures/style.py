"""One look for every figure: sizes, fonts, colours, markers; the same bytes on every rerun."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

COLUMN = 3.25  # inches: one column of a two-column conference page
PAGE = 6.75

# Okabe & Ito's palette, told apart in every common kind of colour blindness.
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"),
)
COLOURS = {"softmax": VERMILION, "linear": BLUE, "infinite": BLACK, "ridge": GREEN}
MARKERS = {"softmax": "o", "linear": "s", "infinite": "D", "ridge": "^"}
NAMES = {
    "softmax": "softmax",
    "linear": "linear",
    "infinite": "infinite prompt",
    "ridge": "optimal ridge (Bayes)",
}
# Token laws: colour, marker, name.
_LAWS = {
    "gaussian": (BLACK, "o", "Gaussian"),
    "rademacher": (VERMILION, "s", "Rademacher"),
    "cube": (SKY, "^", "uniform cube"),
    "mixture": (PURPLE, "D", "Gaussian mixture"),
    "student": (GREEN, "v", "Student, 3 d.o.f."),
    "lognormal": (ORANGE, "P", "signed lognormal"),
}
# Points of one series of measurements with their intervals.
POINTS = {"linestyle": "none", "markersize": 3.2, "elinewidth": 0.8, "capsize": 1.5}

_RC = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral"],
    "mathtext.fontset": "stix",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # TrueType, which every publisher takes
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "largeprompt",
}


def law_look(law: str) -> tuple[str, str, str]:
    """Colour, marker and name of a token law; laws that have no look of their own share one."""
    return _LAWS.get(law, (BLUE, "X", law))


@contextmanager
def style() -> Iterator[None]:
    """The look, for figures drawn and saved inside the block; a matplotlibrc has no say in it."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def panels(
    columns: int, width: float = COLUMN, height: float = 2.3, **shared
) -> tuple[Figure, list[Axes]]:
    """A figure of `columns` axes side by side, sizes in inches."""
    figure = Figure(figsize=(width, height))
    return figure, list(figure.subplots(1, columns, squeeze=False, **shared)[0])


def plain_ticks(axis: Axis) -> None:
    """Ticks 0.1, 0.2, 0.5, ... for a logarithmic axis of one or two decades."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def shades(colour: str, count: int) -> list[tuple[float, float, float]]:
    """`count` tints of one colour, light to full: an ordered series such as several L."""
    return sns.light_palette(colour, n_colors=count + 1)[1:]


def rendered(figure: Figure, format: str, dpi: int, label: str | None) -> bytes:
    """The file's content, without dates; `label` is written across a shortened run's figure."""
    if label:
        figure.text(
            *(0.5, 0.5, f"{label} run — not a result"),
            **{"rotation": 25, "ha": "center", "va": "center", "zorder": 10},
            **{"fontsize": 16, "color": "0.5", "alpha": 0.45},
        )
    unset = {"pdf": {"CreationDate": None}, "png": {"Software": None}}[format]
    buffer = io.BytesIO()
    figure.savefig(buffer, format=format, dpi=dpi, metadata=unset)
    return buffer.getvalue()
