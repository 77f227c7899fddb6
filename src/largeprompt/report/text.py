"""Text of the repository as HTML: captions, Markdown pages, sentences of the registry."""

import html
import re

from docutils.core import publish_parts
from docutils.utils import SystemMessage
from markdown_it import MarkdownIt
from markupsafe import Markup

from largeprompt.errors import InputError

_RST = {
    "_disable_config": True,
    "raw_enabled": False,
    "file_insertion_enabled": False,
    "report_level": 5,
    "halt_level": 2,
}
_HEADINGS = ("heading_open", "heading_close")


def from_rst(text: str, name: str) -> Markup:
    """A caption. Raises InputError naming the file `name` where the text is not sound."""
    try:
        parts = publish_parts(text, writer="html5", settings_overrides=_RST)
    except SystemMessage as error:
        raise InputError(f"{name}: {error}") from None
    return Markup(parts["body"])


def from_markdown(text: str) -> Markup:
    """A page whose headings stand two levels lower and whose tables scroll on their own.

    Links and images are shown as they are written: they lead out of a page that stands alone.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["link", "image", "autolink", "reference"])
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in _HEADINGS:
            token.tag = f"h{int(token.tag[1]) + 2}"
    page = parser.renderer.render(tokens, parser.options, {})
    opening = '<div class="scroll" role="region" tabindex="0" aria-label="Table"><table>'
    page = page.replace("<table>", opening).replace("</table>", "</table></div>")
    return Markup(page.replace("<th>", '<th scope="col">'))


def with_code(text: str) -> Markup:
    """A sentence in which only `code` means something: formulas keep their stars and bars."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text)))


def opening(page: Markup) -> str:
    """The first two sentences of a caption, as plain text."""
    plain = html.unescape(re.sub(r"<[^>]+>", "", page))
    plain = " ".join(plain.split())
    return " ".join(re.split(r"(?<=\.)\s+(?=[A-Z])", plain)[:2])
