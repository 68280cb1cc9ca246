"""Converts reStructuredText to HTML, with the roles and directives of Sphinx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from threading import Lock
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Parser, directives, roles
from docutils.parsers.rst.states import Inliner
from docutils.writers.html5_polyglot import HTMLTranslator, Writer

from aitp_desk.knowledge.sources.formats.base import FormatError
from aitp_desk.knowledge.sources.formats.sphinx import (
    CrossReference,
    describe_unresolved,
    find_directive,
    find_role,
)

MAX_CHARACTERS = 1024 * 1024
"""docutils reads some 200,000 characters in a second."""
MAX_LINE = 20_000
"""The limit of docutils for a line, and for the expansion of substitutions."""
MAX_MARKUP = 50_000_000
"""Characters of a paragraph times its markup signs, over all paragraphs of a page.

Each unmatched sign is followed to the end of its paragraph: this takes three seconds.
"""
_SIGNS = re.compile(r"[*`|_\[:]")

_DASHES = re.compile(r"(?<!-)---(?!-)")
"""Sphinx shows them so; two hyphens begin an option."""
_VERBATIM = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.doctest_block)

_SETTINGS = {
    "_disable_config": True,  # no docutils.conf of this machine
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "line_length_limit": MAX_LINE,
    "syntax_highlight": "none",
    "doctitle_xform": False,
    "initial_header_level": 1,
    "docinfo_xform": False,
    "strip_comments": True,
    "toc_backlinks": False,
    "footnote_backlinks": False,
    "math_output": "latex",
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "auto_id_prefix": "%",
}


def _inliner() -> Inliner:
    """Return a parser of inline markup with bounded time; beyond that, text is plain."""
    inliner, left = Inliner(), MAX_MARKUP
    read = inliner.parse

    def parse(text: str, lineno: int, memo: Any, parent: nodes.Element) -> Any:
        nonlocal left
        left -= len(text) * len(_SIGNS.findall(text))
        if left < 0:
            return [nodes.Text(nodes.unescape(text))], []
        return read(text, lineno, memo, parent)

    inliner.parse = parse  # its patterns are those of its class: a subclass has none
    return inliner


class _Translator(HTMLTranslator):
    """Writes code as the HTML reader expects it."""

    def visit_literal(self, node: nodes.literal) -> None:
        self.body.append(f"<code>{escape(node.astext())}</code>")
        raise nodes.SkipNode

    def visit_literal_block(self, node: nodes.literal_block) -> None:
        classes = " ".join(node["classes"])
        code = escape(node.astext())
        self.body.append(f'<pre class="{escape(classes)}"><code>{code}</code></pre>\n')
        raise nodes.SkipNode


_LOCK = Lock()
"""The registries of docutils are global to the process."""


def rst_html(text: str) -> str:
    """Convert a reStructuredText page to an HTML page.

    Raises:
        FormatError: the page is too large or nests too deep.
    """
    if len(text) > MAX_CHARACTERS:
        raise FormatError(f"It has more than {MAX_CHARACTERS} characters; split it.")
    if max(map(len, text.split("\n"))) > MAX_LINE:
        raise FormatError(f"A line has more than {MAX_LINE} characters; break it.")
    with _LOCK, _names_of_sphinx():
        try:
            tree = publish_doctree(
                text, parser=Parser(inliner=_inliner()), settings_overrides=_SETTINGS
            )
            _resolve(tree)
            _tidy(tree)
            writer = Writer()
            writer.translator_class = _Translator
            publish_from_doctree(tree, writer=writer, settings_overrides=_SETTINGS)
        except RecursionError as error:
            raise FormatError("It is nested too deeply; make it flatter.") from error
        except Exception as error:  # docutils fails in many ways on unexpected input
            raise FormatError(f"docutils cannot read it ({type(error).__name__}).") from error
    return f"<main>{writer.parts['body']}</main>"


@contextmanager
def _names_of_sphinx() -> Iterator[None]:
    """Look up directives and roles among those of Sphinx first."""
    before = directives.directive, roles.role
    directives.directive, roles.role = find_directive(before[0]), find_role(before[1])
    try:
        yield
    finally:
        directives.directive, roles.role = before


def _resolve(tree: nodes.document) -> None:
    """Give each reference to a label of the page its target's title."""
    for reference in list(tree.findall(CrossReference)):
        id = tree.nameids.get(nodes.fully_normalize_name(reference["label"]))
        target = tree.ids.get(id) if id else None
        if target is None:
            reference.parent.replace(reference, nodes.Text(reference.astext()))
            continue
        titled = target if isinstance(target, nodes.section) else target.parent
        title = titled.next_node(nodes.title) if isinstance(titled, nodes.section) else None
        words = title.astext() if title is not None and not reference["titled"] else None
        link = nodes.reference("", words or reference.astext(), internal=True, refid=id)
        reference.parent.replace(reference, link)


def _tidy(tree: nodes.document) -> None:
    """Remove what is for the generator: top fields, messages, error marks."""
    first = next((node for node in tree.children if not isinstance(node, nodes.Invisible)), None)
    if isinstance(first, nodes.field_list):
        tree.remove(first)
    for message in list(tree.findall(nodes.system_message)):
        message.parent.remove(message)
    for section in list(tree.findall(nodes.section)):
        if "system-messages" in section["classes"]:
            section.parent.remove(section)
    for image in tree.findall(nodes.image):
        for option in ("loading", "scale"):  # the writer would read the file in any case
            image.attributes.pop(option, None)
    for text in list(tree.findall(nodes.Text)):
        if "--" in text and not isinstance(text.parent, _VERBATIM):
            dashed = _DASHES.sub("—", text.astext()).replace(" -- ", " – ")
            text.parent.replace(text, nodes.Text(dashed))
    for problem in list(tree.findall(nodes.problematic)):
        problem.parent.replace(problem, nodes.Text(describe_unresolved(problem.astext())))
