"""Converts roles and directives of Sphinx to plain nodes of docutils.

Unknown names are read too: a role as its text, a directive as a term and its content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

DROPPED = frozenset(
    "include literalinclude raw contents sectnum section-numbering header footer meta title"
    " highlight index module currentmodule default-domain date target-notes tabularcolumns"
    " codeauthor sectionauthor moduleauthor testsetup testcleanup todo todolist graphviz mermaid"
    " plantuml uml digraph graph inheritance-diagram bibliography highlightlang automodule"
    " autosummary autoclass autofunction automethod autoattribute autodata autoexception"
    " automodapi autoproperty click argparse program-output restructuredtext-test-directive"
    " cssclass rst-class role default-role".split()
)
"""Directives that insert files, draw, or configure (a role: for all pages) are no text of the page.
"""
CODE = frozenset(
    "code code-block sourcecode parsed-code prompt command-output doctest testcode testoutput"
    " ipython jinja productionlist highlight-block code-cell".split()
)
CONTENT_ONLY = frozenset(
    "ifconfig tabs tab-set grid card-carousel card-group cards panels content-tabs hlist acks"
    " div cond button-link button-ref".split()
)
"""Directives that only group or filter their content: the argument is no text."""
VERSIONS = {
    "versionadded": "Added in version",
    "version-added": "Added in version",
    "versionchanged": "Changed in version",
    "version-changed": "Changed in version",
    "deprecated": "Deprecated since version",
    "version-deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
    "version-removed": "Removed in version",
}
_TOLD_OPTIONS = ("type", "default", "value")
_TITLED = re.compile(r"(?s)(.+?)\s*<([^<>]+)>")
_EXPLAINED = re.compile(r"(?s)(.+?)\s*\(([^()]+)\)")
_LITERAL_ROLES = frozenset(
    "code func meth class mod attr data exc const obj type var macro member enum enumerator"
    " struct union expr texpr samp file option envvar confval conf setting keyword token"
    " makevar mimetype newsgroup regexp literal directive role dir prop module signal".split()
)
_PROSE_ROLES = frozenset("guilabel menuselection".split())
_DROPPED_ROLES = frozenset(
    "raw raw-html raw-latex html octicon fa fas fab far material-regular eq".split()
)
_CALLED = frozenset("func meth".split())
_BUILDERS = frozenset("latex latexpdf epub man texinfo gettext text xml json linkcheck".split())
"""Builders of Sphinx that make no website."""


class CrossReference(nodes.Inline, nodes.TextElement):
    """A reference to a label, possibly in another page."""


class _AnyOptions(dict[str, Any]):
    """The options of a directive; an unknown one is read as text."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, _name: str) -> Callable[[str | None], str]:
        return lambda value: value or ""


class _Any(Directive):
    """A directive with any options, arguments and content."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOptions()

    def _said(self) -> str:
        return self.arguments[0].strip() if self.arguments else ""

    def _inline(self, text: str) -> list[nodes.Node]:
        found, _messages = self.state.inline_text(text, self.lineno)
        return list(found)

    def _parsed(self) -> list[nodes.Node]:
        holder = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, holder, match_titles=True)
        return list(holder.children)


class _Dropped(_Any):
    def run(self) -> list[nodes.Node]:
        return []


class _Code(_Any):
    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        block = nodes.literal_block(text, text)
        language = self._said().split()[:1]
        block["classes"] = ["code", *(f"language-{name.lower()}" for name in language)]
        caption = self.options.get("caption")
        before = [nodes.paragraph("", "", *self._inline(caption))] if caption else []
        return [*before, block] if text.strip() else []


class _Content(_Any):
    def run(self) -> list[nodes.Node]:
        return self._parsed()


class _Only(_Any):
    """Content for some builders: excluded if HTML is none of them."""

    def run(self) -> list[nodes.Node]:
        return [] if is_for_other_builders(self._said()) else self._parsed()


class _Version(_Any):
    def run(self) -> list[nodes.Node]:
        version, about = (*self._said().split(None, 1), "", "")[:2]
        end = ":" if about or self.content else "."
        opening = f"{VERSIONS[self.name.lower()]} {version}{end}"
        parsed = self._parsed()
        paragraph = nodes.paragraph("", f"{opening} " if about or parsed else opening)
        paragraph += self._inline(about)
        if not about and parsed and isinstance(parsed[0], nodes.paragraph):
            paragraph += parsed.pop(0).children
        return [paragraph, *parsed]


class _SeeAlso(_Any):
    def run(self) -> list[nodes.Node]:
        box = nodes.admonition("", nodes.title("", "See also"))
        if said := self._said():
            box += nodes.paragraph("", "", *self._inline(said))
        box += self._parsed()
        return [box]


class _Contents(_Any):
    """A list of pages, as links to them."""

    def run(self) -> list[nodes.Node]:
        if "hidden" in self.options:
            return []
        entries = nodes.bullet_list()
        for title, address in filter(None, map(parse_toc_entry, self.content)):
            link = nodes.reference("", title, refuri=address)
            entries += nodes.list_item("", nodes.paragraph("", "", link))
        return [entries] if entries.children else []


class _Described(_Any):
    """A thing and its description: an object, an option, a tab, a card."""

    def run(self) -> list[nodes.Node]:
        said, content = self._said(), self._parsed()
        told = [
            nodes.paragraph("", f"{name.capitalize()}: ", *self._inline(value))
            for name in _TOLD_OPTIONS
            if (value := self.options.get(name))
        ]
        if not said or said.replace(" ", "").isdigit():
            return [*told, *content]
        item = nodes.definition_list_item()
        for line in filter(None, map(str.strip, said.replace("\\\n", " ").split("\n"))):
            is_code = ":" in self.name
            item += nodes.term("", line) if is_code else nodes.term("", "", *self._inline(line))
        item += nodes.definition("", *told, *content)
        return [nodes.definition_list("", item)]


def is_for_other_builders(tags: str) -> bool:
    """Return whether the argument of ``only`` names builders that make no website."""
    wanted = set(tags.lower().split())
    return bool(wanted & _BUILDERS) and not wanted & {"html", "not", "or"}


def find_directive(known: Callable[..., Any]) -> Callable[..., Any]:
    """Return the look-up of directives.

    Parameters:
        known: that of docutils.
    """

    def find(name: str, language: Any, document: nodes.document) -> tuple[type[Directive], Any]:
        short = name.lower().rpartition(":")[2]
        own = _own_directive(short)
        if own is not None:
            return own, []
        if ":" not in name:
            found, _messages = known(name, language, document)
            if found is not None:
                return _tolerant(found), []
        return _Described, []

    return find


def _own_directive(name: str) -> type[Directive] | None:
    if name in DROPPED:
        return _Dropped
    if name in CODE:
        return _Code
    if name in CONTENT_ONLY or name == "glossary":
        return _Content
    if name in VERSIONS:
        return _Version
    return {"seealso": _SeeAlso, "toctree": _Contents, "only": _Only}.get(name)


@cache
def _tolerant(known: type[Directive]) -> type[Directive]:
    """Return a directive of docutils that accepts the options of others too."""
    options = _AnyOptions(known.option_spec or {})
    return type(known.__name__, (known,), {"option_spec": options})


def find_role(known: Callable[..., Any]) -> Callable[..., Any]:
    """Return the look-up of roles.

    Parameters:
        known: that of docutils.
    """

    def find(name: str, language: Any, lineno: int, reporter: Any) -> Any:
        short = name.lower().rpartition(":")[2]
        if short in _LITERAL_ROLES or ":" in name:
            return _role, []
        found, _messages = known(name, language, lineno, reporter)
        return found or _role, []

    return find


def _role(
    name: str,
    _rawtext: str,
    text: str,
    _lineno: int,
    _inliner: Any,
    _options: Any = None,
    _content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    short = name.lower().rpartition(":")[2]
    text = nodes.unescape(text)
    return list(_nodes_of(short, text)), []


def _nodes_of(role: str, text: str) -> Iterable[nodes.Node]:
    titled = _TITLED.fullmatch(text)
    if role in _DROPPED_ROLES:
        return
    if role in {"ref", "numref", "any"}:
        label = (titled[2] if titled else text).strip().lstrip("!")
        shown = titled[1] if titled else label.rpartition(":")[2].replace("-", " ")
        shown = shown if titled else shown.replace("_", " ")
        yield CrossReference("", shown, label=label, titled=bool(titled))
    elif role == "doc":
        target = titled[2] if titled else text
        yield nodes.reference(
            "", titled[1] if titled else _name_of_page(target), refuri=_address(target)
        )
    elif role in _LITERAL_ROLES:
        yield nodes.literal("", _identifier(role, titled[1] if titled else text, bool(titled)))
    elif role in _PROSE_ROLES:
        yield nodes.Text(re.sub(r"&(?=\w)", "", text).replace("-->", "›"))
    elif role == "abbr" and (explained := _EXPLAINED.fullmatch(text)):
        yield nodes.Text(f"{explained[1]} ({explained[2]})")
    elif role == "kbd":
        yield nodes.literal("", text)
    else:
        yield nodes.Text(titled[1] if titled else text.lstrip("!~"))


def parse_toc_entry(line: str) -> tuple[str, str] | None:
    """Return title and address of a page in a list of pages; None if a line names none."""
    titled = _TITLED.fullmatch(line.strip())
    title, target = titled.groups() if titled else ("", line.strip())
    if not target or target == "self" or "*" in target or target.startswith((":", "#")):
        return None
    return title or _name_of_page(target), _address(target)


def role_as_markdown(name: str, text: str) -> str:
    """Return a MyST role as plain Markdown."""
    said: list[str] = []
    for node in _nodes_of(name.lower().rpartition(":")[2], text):
        words = node.astext()
        if isinstance(node, nodes.literal):
            said.append(f"`{words}`")
        elif isinstance(node, nodes.reference):
            said.append(f"[{words}](<{node['refuri']}>)")
        else:
            said.append(words)
    return "".join(said)


def _identifier(role: str, text: str, is_title: bool) -> str:
    if is_title:
        return text
    name = text.lstrip("!")
    if name.startswith("~"):
        name = name[1:].rpartition(".")[2]
    if role in {"samp", "file"}:
        name = re.sub(r"(?<!\\)[{}]", "", name)
    return f"{name}()" if role in _CALLED and not name.endswith(")") else name


def _name_of_page(target: str) -> str:
    parts = [part for part in target.strip("/").split("/") if part not in {"..", "."}]
    if len(parts) > 1 and parts[-1] == "index":
        parts.pop()
    return parts[-1].replace("-", " ").replace("_", " ") if parts else target


def _address(target: str) -> str:
    if "://" in target:
        return target
    return target.removesuffix("/index") or "/"


def describe_unresolved(mistaken: str) -> str:
    """Return the text of unresolvable markup: a substitution, a reference."""
    return mistaken.strip("|").replace("`_", "").replace("`", "").rstrip("_") or mistaken
