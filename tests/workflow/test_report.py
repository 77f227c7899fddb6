"""The report of the finished smoke run, in a real browser; Snakemake's own report of it."""

import base64
import itertools
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from checkouts import SMOKE
from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCREENS = [(width, scheme) for width in (1280, 390, 360) for scheme in ("light", "dark")]

# Contrast of every text with what lies behind it: the formula of WCAG 2.
CONTRASTS = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const [, , , alpha = 1] = channels(getComputedStyle(e).backgroundColor);
      if (alpha > 0) return getComputedStyle(e).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const found = {};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, style = getComputedStyle(element);
    if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest("script, style, .hoverlayer")) continue;
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [low, high] = [luminance(colour), luminance(behind(element))].sort((a, b) => a - b);
    found[`${colour} on ${behind(element)}`] = (high + 0.05) / (low + 0.05);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium of the machine; none is downloaded."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser installed: none of {', '.join(BROWSERS)} is on the PATH")
    options = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses root's sandbox
    with sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=program, args=options)


@pytest.fixture(scope="module")
def page_file(finished_run) -> Path:
    return finished_run / "smoke/results/report/index.html"


@pytest.fixture(scope="module")
def opened(browser, page_file):
    """Opens the report on a screen; the page has `.requests` and `.complaints` of the browser."""
    pages = {}

    def on(width: int, scheme: str):
        if (width, scheme) not in pages:
            viewport = {"width": width, "height": 900}
            page = browser.new_page(viewport=viewport, color_scheme=scheme)
            page.requests, page.complaints = [], []
            page.on("request", lambda request: page.requests.append(request.url))
            page.on("console", lambda message: page.complaints.append(message.text))
            page.on("pageerror", lambda error: page.complaints.append(str(error)))
            page.goto(page_file.as_uri())
            for chart in page.locator(".chart").all():
                chart.locator(".legendtoggle").first.wait_for(state="attached", timeout=60_000)
            pages[width, scheme] = page
        return pages[width, scheme]

    return on


@pytest.fixture(scope="module")
def page(opened):
    return opened(1280, "light")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_page_asks_for_nothing_and_breaks_no_rule(opened, page_file, width, scheme):
    page = opened(width, scheme)
    assert page.requests == [page_file.as_uri()]
    assert page.complaints == []


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_page_fits_the_screen_in_the_colours_that_the_reader_prefers(opened, width, scheme):
    page = opened(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 3 * 128) == (scheme == "dark")
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, pre, svg')"
        " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(opened, scheme):
    contrasts = opened(1280, scheme).evaluate(CONTRASTS)
    assert len(contrasts) > 5
    assert {pair: c for pair, c in contrasts.items() if c < 4.5} == {}


def test_links_lead_to_places_of_the_page_or_to_the_files_themselves(page, finished_run):
    links = page.evaluate(
        "[...document.querySelectorAll('a')].map(a => [a.getAttribute('href'), a.download])"
    )
    places = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(places) == len(set(places))
    files = {p.name: p for p in (finished_run / "smoke/results").rglob("*.csv")}
    downloads = 0
    for target, download in links:
        if download:
            content = base64.b64decode(target.removeprefix("data:text/csv;base64,"))
            assert content == files[download].read_bytes()
            downloads += 1
        else:
            assert target.removeprefix("#") in places
    assert downloads > 15


def test_page_holds_every_claim_and_figure_of_the_run(page, finished_run):
    text = page.inner_text("#claims")
    verdicts = [
        json.loads(p.read_text(encoding="utf-8"))
        for p in (finished_run / "smoke/results/claims").glob("*.json")
    ]
    for verdict in verdicts:
        row = page.locator(
            "#claims tr", has=page.get_by_role("link", name=verdict["id"], exact=True)
        )
        assert verdict["verdict"] in row.inner_text()
        assert verdict["measured"] in text
        assert verdict["target"] in page.inner_text(f"[id='claim-{verdict['id']}']")
    images = page.evaluate("[...document.images].map(i => [i.alt, i.naturalWidth])")
    assert len(images) == len(list((finished_run / "smoke/figures").glob("*.png")))
    assert all(len(alternative) > 40 and width > 300 for alternative, width in images)


def test_shortened_run_is_marked_before_anything_else(page):
    assert page.title().startswith("SMOKE RUN")
    assert page.locator(".shortened").bounding_box()["y"] <= 0


def test_pointing_at_a_value_shows_it(page):
    chart = page.locator("#figure-output_error .chart").first
    chart.scroll_into_view_if_needed()
    chart.locator(".points path").first.hover(force=True)
    shown = chart.locator(".hovertext")
    shown.wait_for(timeout=5000)
    assert re.search(r"sigma = 1, \w+.*error", shown.text_content())


def test_legend_switches_a_series_off_and_on(page):
    chart = page.locator("#figure-loss_vs_length .chart").first
    chart.scroll_into_view_if_needed()
    state = "e => [e.data[0].visible ?? true, e.querySelectorAll('.trace').length]"
    before = chart.evaluate(state)
    for expected in ("legendonly", True):
        chart.locator(".legendtoggle").first.click(force=True)
        page.wait_for_timeout(600)  # the library waits for the second click of a double one
        assert chart.evaluate(state)[0] == expected
    assert before[0] is True


def test_keyboard_switches_a_series_off_and_on(page):
    chart = page.locator("#figure-rate_exponent .chart").first
    chart.locator(".legendtoggle[tabindex]").nth(1).focus()
    for key, shown in (("Enter", "legendonly"), ("Space", True)):
        page.keyboard.press(key)
        page.wait_for_function(
            "e => e === document.activeElement.ariaChecked", arg=str(shown is True).lower()
        )
        assert chart.evaluate("e => e.data[1].visible") == shown
    name = chart.evaluate("e => e.data[1].name")
    assert page.evaluate("document.activeElement.ariaLabel") == name


def test_keyboard_reaches_the_skip_link_then_the_contents_then_the_claims(opened):
    page = opened(1280, "dark")
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    focused = "document.activeElement.getAttribute('href')"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "#claims"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "#claims"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "#details"
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('section').id") == "claims"


def test_landmarks_and_headings_are_in_order(page):
    for landmark in ("header", "nav", "main", "footer"):
        assert page.locator(f"body > {landmark}").count() == 1
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5')].map(h => Number(h.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert page.evaluate("document.documentElement.lang") == "en"


def test_report_is_written_anew_with_the_same_bytes(checkout):
    page = checkout.path / "smoke/results/report/index.html"
    before = page.read_bytes()
    done = checkout.snakemake("report", *SMOKE, "--forcerun", "report", TZ="Pacific/Kiritimati")
    assert done.returncode == 0, done.stderr
    assert page.read_bytes() == before


@pytest.mark.parametrize(
    "file", ["workflow/report/transfer.rst", "src/largeprompt/report/style.css", "DEVIATIONS.md"]
)
def test_edited_caption_style_or_deviation_rewrites_the_report_alone(checkout, file):
    checkout.append(file, "\n")
    assert checkout.plan().jobs == {"report": 1}


def test_snakemakes_own_report_shows_every_figure_with_category_label_and_caption(checkout):
    target = checkout.path / "own.html"
    done = checkout.snakemake("--report", str(target), *SMOKE)
    assert done.returncode == 0, done.stderr
    text = target.read_text(encoding="utf-8")
    categories = text[text.index("categories") :]
    for figure in sorted((checkout.path / "smoke/figures").glob("*.pdf")):
        start = re.search(rf'"figures/{figure.name}": (?={{"name")', text).end()
        entry, _ = json.JSONDecoder().raw_decode(text, start)
        assert entry["labels"] == {"figure": figure.stem}
        assert len(entry["caption"]) > 100
        assert f"figures/{figure.name}" in categories
