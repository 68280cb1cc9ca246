"""Reads an HTML page's title, description and main content, sanitized and with its ids."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import msgspec
import nh3
from selectolax.lexbor import LexborNode

from aitp_desk.knowledge.documents.anchors import AnchorIds
from aitp_desk.knowledge.documents.blocks import LONG_DEFINITION, NOTES
from aitp_desk.knowledge.documents.detection import detect_language
from aitp_desk.knowledge.sources.html.frame import find_main
from aitp_desk.knowledge.sources.html.tree import (
    find_fields,
    is_column_name,
    make_element,
    parse_page,
    remove_node,
)
from aitp_desk.model.text import one_line

_HEADINGS = "h1, h2, h3, h4, h5, h6"
_HEADING_TAGS = frozenset(_HEADINGS.split(", "))
_HEADING_BREAKS = "h1 br, h2 br, h3 br, h4 br, h5 br, h6 br, summary br"
_LONGEST_LABEL = 40
_LABEL = re.compile(r".+(?<![:.,;!?])")
"""A date, a category or the like above a heading, with at most so many characters."""
_DIGIT = re.compile(r"\d")
_JSON_LD = 'script[type="application/ld+json"]'
_LIKE_A_HEADING = re.compile(r".{3,120}(?<![:.,;])")
_CAPTIONED = frozenset({"figure", "table", "example", "equation"})
"""Classes of DocBook: the bold title there belongs to what is shown, not to the text below."""
_DEEPEST_OPENING = 12
_MOST_BEFORE = 8
"""How many elements and spaces before a heading are searched for its name or its label."""
_DEEPER = re.compile(r"(</?h)([1-5])(?=[\s>])")
_FOOTNOTES = {
    "de": "Fußnoten",
    "es": "Notas al pie",
    "fr": "Notes de bas de page",
    "it": "Note a piè di pagina",
    "ja": "脚注",
    "ko": "각주",
    "nl": "Voetnoten",
    "pt": "Notas de rodapé",
    "zh": "脚注",
}
_NOTE_TABLES = ", ".join(
    f"div.{kind} > table" for kind in ("note", "tip", "warning", "caution", "important")
)
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight|source)-([\w+#.-]+)")
_NO_LANGUAGE = frozenset({"none", "text", "plain", "plaintext", "default", "listing"})

_CLEANER = nh3.Cleaner(
    attributes={
        **nh3.ALLOWED_ATTRIBUTES,
        "*": {"id", *nh3.ALLOWED_ATTRIBUTES.get("*", ())},
        "li": {"value"},
        "ol": {"start", "type"},
        "a": {"name", *nh3.ALLOWED_ATTRIBUTES["a"]},
        "pre": {"data-language"},
        "table": {"role", *nh3.ALLOWED_ATTRIBUTES.get("table", ())},
    }
)


class HtmlPage(msgspec.Struct, frozen=True):
    """An HTML page as it was read; ``body`` is safe to place into another page.

    Parameters:
        schema_object: what the page declares of its subject (schema.org), as written; else empty.
    """

    title: str
    description: str
    body: str
    schema_object: dict[str, Any] = {}


def read_html(
    text: str, *, rendered_here: bool = True, has_bars: bool = True, has_headings: bool = False
) -> HtmlPage:
    """Find a page's title, its meta description and its main content.

    The body has no script, no style, no event handler and no dangerous link. Its first heading is
    of level 1 if that is the page's title, and no other one is. Headings and the terms of
    definition lists keep the ids that links refer to.

    Parameters:
        rendered_here: whether the desk shows the page, so that a long definition whose term has no
            id may be given one; an external page has its own ids.
        has_bars: whether it may have menus, as
        :func:`~aitp_desk.knowledge.sources.html.frame.find_main`.
        has_headings: whether bold paragraphs are not headings, as in a page from Markdown.
    """
    tree = parse_page(text)
    described = tree.css_first('meta[name="description"]')
    description = one_line(described.attributes.get("content") or "") if described else ""
    titled = tree.css_first("title")
    called = one_line(titled.text()) if titled else ""
    declared = [script.text() for script in tree.css(_JSON_LD)] if has_bars else []
    main = find_main(tree, has_bars=has_bars)
    if main is None:
        return HtmlPage(called, description, "")
    for line_break in main.css(_HEADING_BREAKS):
        line_break.replace_with(" ")
    title, is_of_many = _title(main, called)
    _move_labels(main, title)
    if not has_headings:
        _raise_bold(main)
    _raise_summaries(main)
    _raise_questions(main)
    _unwrap_notes(main)
    _gather_footnotes(main, text)
    _name_headings(main)
    if rendered_here:
        _name_terms(main)
    first_node = _opening(main, title)
    if first_node is not None and first_node.tag != "h1":
        id = first_node.attributes.get("id") or ""
        first_node.replace_with(make_element("h1", escape(title), id=id))
    for node in main.css("pre"):
        _name_language(node)
    for node in main.css("span:not([id]), font"):
        node.unwrap()
    body = _CLEANER.clean(main.html or "").strip()
    if is_of_many:
        body = _lower(body, keeps_first=first_node is not None)
    if not declared:
        return HtmlPage(title, description, body)
    from aitp_desk.knowledge.sources.html.json_ld import write_facts
    from aitp_desk.knowledge.sources.html.schema_object import find_schema_object

    body = f"{body}\n{write_facts(declared, main.text())}".strip()
    return HtmlPage(title, description, body, find_schema_object(declared))


def _title(main: LexborNode, called: str) -> tuple[str, bool]:
    """Return a page's title, and whether it has several headings of level 1."""
    tops = [text for node in main.css("h1") if (text := one_line(node.text()))]
    if len(tops) == 1:
        return tops[0], False
    if called:
        return called, len(tops) > 1
    first = main.css_first(_HEADINGS)
    return (one_line(first.text()) if first else ""), len(tops) > 1


def _move_labels(main: LexborNode, title: str) -> None:
    """Move the label that begins a card below the card's heading.

    Above it, it would be the end of the section before: a date of the card before. A label without
    a figure is left out if no other text follows: it says what the heading does.
    """
    for heading in reversed(main.css(_HEADINGS)):
        before = _opening_label(heading)
        said = " ".join(one_line(one.text(separator=" ")) for one in before).strip()
        if not _LABEL.fullmatch(said) or said == title:
            continue
        if _DIGIT.search(said) or _has_text_below(heading, main):
            heading.insert_after(make_element("p", escape(said)))
        for one in before:
            remove_node(one)


def _opening_label(heading: LexborNode) -> list[LexborNode]:
    """Return the nodes of a card above its heading; none if they are no label."""
    found: list[LexborNode] = []
    left = _LONGEST_LABEL
    node = heading.prev
    while node is not None:
        left -= len(node.text().strip())
        if left < 0 or len(found) == _MOST_BEFORE or _holds_a_heading(node):
            return []
        found.insert(0, node)
        node = node.prev
    return found


def _has_text_below(heading: LexborNode, main: LexborNode) -> bool:
    """Return whether a heading is followed by text, and not by another heading."""
    node: LexborNode | None = heading
    for _ in range(_DEEPEST_OPENING):
        if node is None or node.mem_id == main.mem_id:
            break
        after = node.next
        while after is not None:
            if said := one_line(after.text(separator=" ")):
                first = after if after.tag in _HEADING_TAGS else after.css_first(_HEADINGS)
                return first is None or not said.startswith(one_line(first.text(separator=" ")))
            after = after.next
        node = node.parent
    return False


def _holds_a_heading(node: LexborNode) -> bool:
    return node.tag in _HEADING_TAGS or node.css_first(_HEADINGS) is not None


def _raise_bold(main: LexborNode) -> None:
    """Convert paragraphs that are wholly bold and no sentence to headings."""
    for node in main.css("p > b:only-child, p > strong:only-child"):
        paragraph, text = node.parent, one_line(node.text())
        if paragraph is None or not _LIKE_A_HEADING.fullmatch(text) or text.lower() in NOTES:
            continue
        if is_column_name(paragraph.parent):
            continue
        around = paragraph.parent.attributes.get("class") if paragraph.parent else ""
        if not _CAPTIONED.isdisjoint((around or "").split()):
            continue
        if text == one_line(paragraph.text()):
            made = make_element("h6", node.inner_html or "", id=_id_of(paragraph))
            paragraph.replace_with(made)


def _raise_summaries(main: LexborNode) -> None:
    """Convert summaries that are rows of questions to headings: each answer is a section."""
    for node in main.css("details > summary"):
        details, text = node.parent, one_line(node.text())
        if details is None or not _LIKE_A_HEADING.fullmatch(text):
            continue
        after = details.next
        while after is not None and not after.text().strip():
            after = after.next
        ends = after is None or after.tag == "details" or after.tag in _HEADING_TAGS
        if ends and node.css_first(_HEADINGS) is None:
            node.replace_with(make_element("h6", escape(text), id=_id_of(node) or _id_of(details)))
            details.unwrap()


def _raise_questions(main: LexborNode) -> None:
    """Convert the questions of DocBook's lists, which are tables, to headings."""
    for table in main.css("div.qandaset table:has(tr.question)"):
        parts: list[str] = []
        for row in table.css("tr.qandadiv, tr.question, tr.answer"):
            cells = [cell for cell in row.iter() if cell.tag == "td"]
            if not cells:
                continue
            text = one_line(cells[-1].text())
            if row.attributes.get("class") == "question" and text:
                named = row.css_first("a[id], a[name]")
                id = _id_of(named) if named is not None else ""
                parts.append(f'<h6 id="{escape(id)}">{escape(text)}</h6>')
            else:
                parts.append(cells[-1].inner_html or "")
        table.replace_with(make_element("div", "".join(parts)))


def _unwrap_notes(main: LexborNode) -> None:
    """Convert the notes of DocBook, which are tables, to their name and their text."""
    for table in main.css(_NOTE_TABLES):
        names, cells = table.css("th"), table.css("td")
        if len(names) != 1 or not cells or one_line(names[0].text()).lower() not in NOTES:
            continue
        name = escape(one_line(names[0].text()))
        table.replace_with(make_element("div", f"<p>{name}</p>{cells[-1].inner_html}"))


def _gather_footnotes(main: LexborNode, page: str) -> None:
    """Move the footnotes of docutils to a separate section at the end.

    They are in sections to which most of them are unrelated.
    """
    told: list[str] = []
    for notes in main.css("dl.footnote, aside.footnote"):
        for node in notes.css("dt, span.label, dd, p"):
            if node.tag in {"dt", "span"}:
                told.append(f"{one_line(node.text()).strip('[]')}: ")
            elif told and (node.tag == "p" or node.css_first("p") is None):
                told[-1] += f"{one_line(node.text())} "
        remove_node(notes)
    if told:
        items = "".join(f"<li>{escape(one)}</li>" for one in told)
        called = _FOOTNOTES.get((detect_language([page.encode()]) or "")[:2], "Footnotes")
        main.insert_child(make_element("div", f"<h2>{called}</h2><ul>{items}</ul>"))


def _name_headings(main: LexborNode) -> None:
    """Give each heading the id that links to it.

    That is its own, a name right before it, that of the part which it opens, or one within it.
    """
    for heading in main.css(_HEADINGS):
        if heading.attributes.get("id"):
            continue
        holder = _named_by(heading, main) or heading.css_first("[id], a[name]")
        if holder is not None and (id := _id_of(holder)):
            heading.attrs["id"] = id
            if holder.tag != "a":
                del holder.attrs["id"]


def _named_by(heading: LexborNode, main: LexborNode) -> LexborNode | None:
    """Return the nearest element with an id that is directly before the heading."""
    node = heading
    for _ in range(_DEEPEST_OPENING):
        before = node.prev
        for _ in range(_MOST_BEFORE):
            if before is None:
                break
            if before.text().strip():
                return None
            if before.tag == "a" and before.attributes.get("name"):
                return before
            before = before.prev
        if before is not None:
            return None
        parent = node.parent
        if parent is None or parent.mem_id == main.mem_id:
            return None
        if _id_of(parent):
            return parent
        node = parent
    return None


def _id_of(node: LexborNode) -> str:
    attributes = node.attributes
    return attributes.get("id") or (attributes.get("name") if node.tag == "a" else "") or ""


def _name_terms(main: LexborNode) -> None:
    """Add ids to the terms of lists with long definitions: sources may link to them."""
    anchors = AnchorIds()
    lists: dict[int, list[LexborNode]] = {}
    long: set[int] = set()
    for node in main.css("dt, dd"):
        of = node.parent.mem_id if node.parent is not None else 0
        if node.tag == "dd":
            if len(node.text()) > LONG_DEFINITION:
                long.add(of)
            continue
        for end in node.css("br"):
            end.replace_with(", ")
        lists.setdefault(of, []).append(node)
        if id := _id_of(node) or _id_of(node.css_first("[id]") or node):
            anchors.make_id("", id)
            long.add(of)
    fields = find_fields(main)
    for term in (term for of, terms in lists.items() if of in long for term in terms):
        text = one_line(term.text())
        is_named = _id_of(term) or term.css_first("[id]") is not None
        if text and not is_named and text.rstrip(":") not in fields:
            term.attrs["id"] = anchors.make_id(text)


def _opening(main: LexborNode, title: str) -> LexborNode | None:
    """Return the first element of the page if it contains only the title."""
    node, wanted = main, title.casefold()
    for _ in range(_DEEPEST_OPENING):
        inner = next((child for child in node.iter() if child.text().strip()), None)
        if inner is None or inner.tag == "p":
            return None
        said = one_line(inner.text()).casefold()
        if said == wanted:
            within = inner.css_first(_HEADINGS)
            return inner if within is None else within
        if not said.startswith(wanted):
            return None
        node = inner
    return None


def _name_language(code: LexborNode) -> None:
    """Keep the language of a code block, which generators write into various classes."""
    within = code.css_first("code[class]")
    near: list[LexborNode | None] = [within, code, code.parent]
    near.append(code.parent.parent if code.parent is not None else None)
    for node in near:
        found = _LANGUAGE.search((node.attributes.get("class") or "") if node is not None else "")
        if found and found[1] not in _NO_LANGUAGE:
            code.attrs["data-language"] = found[1].removesuffix("3").lower()
            return


def _lower(body: str, *, keeps_first: bool) -> str:
    """Lower the headings by one level, except the first if that is the title."""
    left = 2 if keeps_first else 0

    def lowered(found: re.Match[str]) -> str:
        nonlocal left
        if left:
            left -= 1
            return found[0]
        return f"{found[1]}{int(found[2]) + 1}"

    return _DEEPER.sub(lowered, body)
