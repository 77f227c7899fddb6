"""Parts of the report: what it shows is escaped, its policy names what it runs, times add up."""

import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from largeprompt.errors import InputError
from largeprompt.figures import loss_vs_length, output_error, rate_exponent
from largeprompt.report.charts import CHARTS
from largeprompt.report.page import Figure, Report, Table, as_json, render
from largeprompt.report.text import from_markdown, from_rst, opening, with_code
from largeprompt.report.times import times_by_rule

ATTACK = "</script><script>alert('x')</script><img src=x onerror=alert(1)> \"' `<b>`"


class Elements(HTMLParser):
    """Tags with their attributes, and the text of each script and style."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.blocks, self.text = [], {"script": [], "style": []}, []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag in self.blocks:
            self.blocks[tag].append("")

    def handle_data(self, data):
        (open_tag, _) = self.tags[-1] if self.tags else ("", {})
        if open_tag in self.blocks and self.cdata_elem:
            self.blocks[open_tag][-1] += data
        else:
            self.text.append(data)

    def with_attribute(self, name):
        return [attributes[name] for _, attributes in self.tags if name in attributes]


def claim(text: str) -> dict:
    """A verdict file in which every free text is `text`."""
    free = dict.fromkeys(("statement", "conditions", "rule", "reason", "control"), text)
    return {
        **free,
        **{"id": "a-claim", "paper": {"v1": text, "v2": text}, "run": "full"},
        **{"figure": "drawn", "tables": [f"results/{text}.csv"], "target": text},
        **{"verdict": "reproduced", "measured": text, "allowed": text},
        **{"tolerance": {text: 1.0}, "numbers": {text: 2.0}},
        "control_result": {"failed": True, "measured": text},
        "provenance": {
            **{"git": text, "config": text, "python": text, "packages": {text: text}},
            "inputs": {f"results/{text}.csv": text},
        },
    }


def report(text: str, run: str = "full") -> Report:
    frame = pd.DataFrame({text: [text, text], "value": [0.5, 1.5]})
    table = Table(f"results/{text}.csv", text.encode(), frame)
    chart = as_json(CHARTS["output_error"][1](errors(text))[0])
    figure = Figure("drawn", text, b"png", from_rst("Words.", "c.rst"), table.path, [chart])
    return Report(run, [claim(text)], [figure], {table.path: table}, from_markdown(text), [])


def errors(law: str) -> pd.DataFrame:
    rows = [
        (law, source, 1.0, L, 1 / L, 0.1 / L, -1.0, 0.1, 5 / L)
        for source in ("simulation", "exact")
        for L in (1, 10)
    ]
    return pd.DataFrame(rows, columns=output_error.COLUMNS)


def test_shown_text_never_becomes_an_element():
    shown, plain = Elements(render(report(ATTACK))), Elements(render(report("plain")))
    assert [tag for tag, _ in shown.tags if tag != "code"] == [
        tag for tag, _ in plain.tags if tag != "code"
    ]
    assert not [a for _, a in shown.tags for name in a if name.startswith("on")]
    assert "alert('x')" in "".join(shown.text)


def test_policy_allows_the_inline_blocks_of_the_page_and_nothing_else():
    page = Elements(render(report("plain")))
    (policy,) = (a["content"] for _, a in page.tags if "Content-Security-Policy" in a.values())
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "unsafe" not in policy
    kinds = [a.get("type") for tag, a in page.tags if tag == "script"]
    scripts = [t for t, k in zip(page.blocks["script"], kinds, strict=True) if k is None]
    for kind, blocks in (("script-src", scripts), ("style-src", page.blocks["style"])):
        digests = {base64.b64encode(hashlib.sha256(b.encode()).digest()).decode() for b in blocks}
        assert set(rules[kind].split()) == {f"'sha256-{digest}'" for digest in digests}
    assert not page.with_attribute("style")


def test_page_refers_to_nothing_outside_itself():
    page = Elements(render(report("plain")))
    targets = page.with_attribute("href") + page.with_attribute("src")
    assert targets
    assert all(target.startswith(("#", "data:")) for target in targets)


def test_headings_follow_one_another_without_gaps():
    page = Elements(render(report("# Title\n\n## Part")))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


@pytest.mark.parametrize("run", ["smoke", "trial"])
def test_shortened_run_is_marked_in_title_and_at_the_top(run):
    page = render(report("plain", run))
    title = re.search(r"<title>(.*)</title>", page).group(1)
    assert f"{run.upper()} RUN" in title
    assert page.index(f"{run.upper()} RUN: shortened") < page.index("<h1>")
    assert " RUN" not in render(report("plain")).split("<h1>")[0]


def test_same_report_gives_the_same_page():
    assert render(report("plain")) == render(report("plain"))


def test_long_tables_are_a_download_only():
    table = Table("t.csv", b"a\n", pd.DataFrame({"a": range(41)}))
    assert not table.inline
    assert Table("t.csv", b"a\n", table.frame[:40]).inline


def test_code_is_the_only_markup_of_a_sentence():
    assert with_code("`z` of *a* [b](c) <i>") == "<code>z</code> of *a* [b](c) &lt;i&gt;"


def test_markdown_shows_links_and_elements_as_text_and_scrolls_tables():
    page = from_markdown("# A\n\n[a](http://b.c) <b>x</b>\n\n| a |\n|---|\n| 1 |\n")
    assert "<h3>A</h3>" in page
    assert "<a" not in page
    assert "<b>" not in page
    assert page.index('class="scroll"') < page.index("<table>")


def test_unsound_caption_is_refused_and_named():
    with pytest.raises(InputError, match=r"captions/x\.rst"):
        from_rst("A |missing| substitution.", "captions/x.rst")


def test_opening_of_a_caption_is_two_plain_sentences():
    caption = from_rst("The *first* one, d = 0.5. Another: A. And more.", "x.rst")
    assert opening(caption) == "The first one, d = 0.5. Another: A."


def test_times_are_summed_by_rule(tmp_path):
    head = "s\th:m:s\tmax_rss\tcpu_time\n"
    for name, row in {
        "train/L=10/seed=1.tsv": "2.5\t0:00:02\t100\t2.0\n",
        "train/L=20/seed=1.tsv": "1.5\t0:00:01\t300\t1.0\n",
        "plot.tsv": "0.1\t0:00:00\tNA\tNA\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(head + row)
    assert times_by_rule(tmp_path) == [("train", 2, 4.0, 3.0, 300.0), ("plot", 1, 0.1, 0.0, 0.0)]


def test_charts_show_every_series_of_their_tables():
    losses = pd.DataFrame(
        [
            ("as-stated", "ar1", method, attention, "random", L, 327, quantity, 1 / L, 0.1)
            for method, loss in (("sgd", "loss"), ("flow", "risk"))
            for attention in ("softmax", "linear")
            for quantity in (loss, "minus_infinite")
            for L in (10.0, 20.0)
        ],
        columns=loss_vs_length.COLUMNS,
    )
    for chart in CHARTS["loss_vs_length"][1](losses):
        assert {trace.name for trace in chart.data} == {
            *("sgd, softmax", "sgd, linear", "flow, softmax", "flow, linear")
        }
        assert chart.layout.xaxis.type == chart.layout.yaxis.type == "log"
    exponents = pd.DataFrame(
        [(curve, 0.5, L, 0.7, 0.6) for curve in ("gaussian", "true", "fitted") for L in (1.0, 9.0)],
        columns=rate_exponent.COLUMNS,
    )
    local, limits = CHARTS["rate_exponent"][1](exponents)
    assert [trace.name for trace in local.data] == ["gaussian, tilt = 0.5"]
    assert [trace.name for trace in limits.data][::3] == [
        "theta(tilt), Gaussian tokens",
        "fitted to short prompts",
    ]
