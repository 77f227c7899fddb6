"""One self-contained HTML page: nothing is fetched, and its policy forbids fetching."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from largeprompt.report.text import opening, with_code
from largeprompt.report.times import RuleTime

INLINE_ROWS = 40  # longer tables are a download only


@dataclass(frozen=True)
class Table:
    """A CSV file behind a figure or a claim."""

    path: str
    content: bytes
    frame: pd.DataFrame

    @property
    def inline(self) -> bool:
        return len(self.frame) <= INLINE_ROWS

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Figure:
    """A figure with its caption; `charts` are layouts and data for the chart library."""

    name: str
    category: str
    png: bytes
    caption: Markup
    table: str
    charts: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def alternative(self) -> str:
        return f"{self.name.replace('_', ' ')}: {opening(self.caption)}"


@dataclass(frozen=True)
class Report:
    """All that the page shows. `run` is the label of the run; `claims` are verdict files."""

    run: str
    claims: Sequence[Mapping[str, Any]]
    figures: Sequence[Figure]
    tables: Mapping[str, Table]
    deviations: Markup
    times: Sequence[RuleTime]


def render(report: Report) -> str:
    """The page. The same report gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("largeprompt.report", ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"code": with_code, "data_uri": _data_uri, "anchor": anchor}
    library, style, script = get_plotlyjs(), _asset("style.css"), _asset("charts.js")
    return environment.get_template("page.html.j2").render(
        report=report,
        shortened=report.run != "full",
        verdicts=pd.Series([c["verdict"] for c in report.claims]).value_counts().to_dict(),
        versions=_versions(report.claims),
        figure_names={figure.name for figure in report.figures},
        library=Markup(library),
        library_style=_own_style(library),
        style=Markup(style),
        script=Markup(script),
        policy=_policy([library, script], [style, ""]),
    )


def anchor(path: str) -> str:
    """The fragment that stands for a path or an id."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", path)


def as_json(chart: Any) -> dict[str, Any]:
    """A chart of the library as plain data."""
    return json.loads(chart.to_json())


def _versions(claims: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], str]]:
    """Each state of code and packages that made a verdict, and the claims that it made."""
    states: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for claim in claims:
        state = {k: v for k, v in claim["provenance"].items() if k != "inputs"}
        states.setdefault(json.dumps(state, sort_keys=True), (state, []))[1].append(claim["id"])
    return [(state, ", ".join(names)) for state, names in states.values()]


def _asset(name: str) -> str:
    return files("largeprompt.report").joinpath(name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Nothing is allowed but these inline blocks and images that the page holds.

    The empty style is the one that the chart library adds, to insert rules one by one.
    """
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {' '.join(map(_source, scripts))}; style-src {' '.join(map(_source, styles))}"
    )


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _own_style(library: str) -> str:
    """Id of the element whose presence keeps the library from adding the style of its maps."""
    found = re.search(r'getElementById\("([0-9a-f]{64})"\)', library)
    return found.group(1) if found else "no-style-of-maps"


def _data_uri(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
