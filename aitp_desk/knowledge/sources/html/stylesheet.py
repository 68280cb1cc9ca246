"""Reads an HTML page's own styles: its ``style`` elements and attributes.

A small cascade (CSS Cascading and Inheritance Level 4): enough to find hidden text. External style
sheets are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import tinycss2
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from tinycss2.ast import WhitespaceToken

from aitp_desk.knowledge.sources.html.css_values import (
    Tokens,
    drop_space,
    nests_deeply,
    parse_keyword,
    parse_number,
    split_by_comma,
)
from aitp_desk.knowledge.sources.html.tree import is_within

MAX_SHEET_CHARACTERS = 512 * 1024
"""A longer style sheet is not read."""
MAX_RULES = 2000
"""How many rules of a page are applied."""
_MAX_NESTING = 8
_MOST_NESTED = 100
_NARROWEST, _WIDEST = 320.0, 4000.0
"""A rule for screens of at least or at most this many pixels holds on all of them."""


class Declaration(msgspec.Struct, frozen=True):
    """A declaration as it applies to an element.

    Parameters:
        weight: the larger wins: important, inline, specificity, order.
        rule: its rule; None for an attribute of the element.
    """

    value: Tokens
    weight: tuple[int, ...]
    rule: Rule | None = None


class Rule(msgspec.Struct, frozen=True, eq=False):
    """A style rule with one selector.

    Parameters:
        names: the classes and ids of the element that it selects, in lower case: ``.tab``.
        specificity: ids, classes and the like, elements.
        is_general: whether it applies to all visitors with a screen.
    """

    selector: str
    names: frozenset[str]
    specificity: tuple[int, int, int]
    declarations: tuple[tuple[str, Tokens, bool], ...]
    is_general: bool


Style = dict[str, Declaration]
"""The declarations of an element, by property."""


class _Sheet:
    """A parsed style sheet. Its attributes are those of :class:`Styles`."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self.rules: list[Rule] = []
        self.animated: dict[str, frozenset[str]] = {}
        self.custom: dict[str, Tokens] = {}
        self.imports = False
        self._wanted = wanted

    def take(self, rules: Iterable[Any], *, is_general: bool, depth: int = 0) -> None:
        for rule in rules:
            if len(self.rules) >= MAX_RULES or depth > _MAX_NESTING:
                return
            if rule.type in {"qualified-rule", "at-rule"} and nests_deeply(rule.prelude):
                continue
            if rule.type == "qualified-rule":
                self._take_rule(rule, is_general=is_general)
            elif rule.type == "at-rule" and rule.content is None:
                self.imports |= rule.lower_at_keyword == "import"
            elif rule.type == "at-rule":
                name = rule.lower_at_keyword
                if name.endswith("keyframes"):
                    self._take_frames(rule)
                elif name in {"media", "supports", "layer", "container", "scope"}:
                    if name == "media" and is_for_print(rule.prelude):
                        continue
                    holds = name == "layer" or (
                        is_for_all(rule.prelude)
                        if name == "media"
                        else name == "supports" and not _said(rule.prelude).startswith("not")
                    )
                    inner = tinycss2.parse_rule_list(
                        rule.content, skip_comments=True, skip_whitespace=True
                    )
                    self.take(inner, is_general=is_general and holds, depth=depth + 1)

    def _take_rule(
        self, rule: Any, *, is_general: bool, around: Sequence[Tokens] = (), depth: int = 0
    ) -> None:
        content = tuple(rule.content)
        selectors = [
            one for inner in split_by_comma(rule.prelude) for one in _nested(inner, around)
        ]
        if (around and len(selectors) > _MOST_NESTED) or len(self.rules) > MAX_RULES:
            return
        if declarations := tuple(_declarations(content, self._wanted, self.custom)):
            for selector in selectors:
                names, specificity = _weigh(selector)
                text = tinycss2.serialize(selector).strip()
                self.rules.append(Rule(text, names, specificity, declarations, is_general))
        if depth < _MAX_NESTING:
            for inner in _blocks(content):
                if inner.type == "qualified-rule" and not nests_deeply(inner.prelude):
                    self._take_rule(inner, is_general=is_general, around=selectors, depth=depth + 1)

    def _take_frames(self, rule: Any) -> None:
        said: set[str] = set()
        for frame in tinycss2.parse_rule_list(
            rule.content, skip_comments=True, skip_whitespace=True
        ):
            if frame.type == "qualified-rule":
                said |= {
                    name
                    for name, _, _ in _declarations(tuple(frame.content), self._wanted, self.custom)
                }
        self.animated[_said(rule.prelude)] = frozenset(said)


def _declarations(
    content: str | Tokens, wanted: frozenset[str], custom: dict[str, Tokens]
) -> Iterator[tuple[str, Tokens, bool]]:
    """Yield the declarations of interest; custom properties are stored in ``custom``."""
    for name, value, important in _parse(content):
        if name.startswith("--"):
            custom[name] = value
        elif (plain := name.removeprefix("-webkit-")) in wanted:
            yield plain, value, important


@lru_cache(maxsize=32)
def _read_sheet(text: str, media: str, wanted: frozenset[str]) -> _Sheet:
    """Parse a style sheet; cached, because the pages of a site share them."""
    sheet = _Sheet(wanted)
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    queries = tinycss2.parse_component_value_list(media)
    sheet.take(rules, is_general=is_for_all(queries))
    return sheet


class Styles:
    """The styles of a page.

    Parameters:
        tree: the page.
        wanted: the properties of interest.
        is_valid: whether a value of one is valid.

    Attributes:
        nodes: the elements with declarations, by their ids in memory.
        of: the declarations of each of them.
        rules: of all style sheets.
        animated: the properties that each animation sets.
        imports: whether there are style sheets that are not read.
    """

    def __init__(
        self,
        tree: LexborHTMLParser,
        wanted: frozenset[str],
        is_valid: Callable[[str, Tokens], bool],
    ) -> None:
        self._is_valid = is_valid
        self.nodes: dict[int, LexborNode] = {}
        self.of: dict[int, Style] = {}
        sheets = [
            _read_sheet(text, node.attributes.get("media") or "", wanted)
            for node in tree.css("style")
            if len(text := node.text()) <= MAX_SHEET_CHARACTERS
            and not is_within(node, {"noscript", "template"})
        ]
        self.rules = [rule for sheet in sheets for rule in sheet.rules][:MAX_RULES]
        self.animated = {name: said for one in sheets for name, said in one.animated.items()}
        self.imports = any(sheet.imports for sheet in sheets)
        self._custom = {name: value for one in sheets for name, value in one.custom.items()}
        self._wanted = wanted
        self._apply(tree)
        self._read_attributes(tree)
        self._fill_in()

    def _apply(self, tree: LexborHTMLParser) -> None:
        if not self.rules:
            return
        here = {
            f"{sign}{name}".lower()  # as for pages without a doctype
            for node in tree.css("[class], [id]")
            for sign, attribute in ((".", "class"), ("#", "id"))
            for name in (node.attributes.get(attribute) or "").split()
        }
        for order, rule in enumerate(self.rules):
            if not rule.is_general or not rule.names <= here:
                continue
            try:
                nodes = tree.css(rule.selector)
            except (SelectolaxError, ValueError):
                continue  # no selector, or one unknown to the parser
            for node in nodes:
                for name, value, important in rule.declarations:
                    weight = (int(important), 0, *rule.specificity, order)
                    self._declare(node, name, Declaration(value, weight, rule))

    def _read_attributes(self, tree: LexborHTMLParser) -> None:
        for node in tree.css("[style], [bgcolor], font[color], body[text]"):
            attributes = node.attributes
            for attribute, name in (
                ("bgcolor", "background-color"),
                ("color", "color"),
                ("text", "color"),
            ):
                if said := attributes.get(attribute):
                    value = drop_space(tinycss2.parse_component_value_list(said))
                    self._declare(node, name, Declaration(value, (0, -1)))
            for name, value, important in _declarations(
                attributes.get("style") or "", self._wanted, self._custom
            ):
                self._declare(node, name, Declaration(value, (int(important), 1)))

    def _declare(self, node: LexborNode, name: str, declared: Declaration) -> None:
        if not self._is_valid(name, declared.value):
            return
        self.nodes.setdefault(node.mem_id, node)
        style = self.of.setdefault(node.mem_id, {})
        before = style.get(name)
        if before is None or declared.weight >= before.weight:
            style[name] = declared

    def _fill_in(self) -> None:
        """Replace ``var(…)`` by custom properties."""
        for style in self.of.values():
            for name, declared in style.items():
                value = _filled(declared.value, self._custom)
                style[name] = msgspec.structs.replace(declared, value=value)


def is_for_all(media: Tokens) -> bool:
    """Return whether a media query holds for all screens (Media Queries Level 4)."""
    queries = split_by_comma(media)
    return not queries or any(map(_is_general, queries))


def is_for_print(media: Tokens) -> bool:
    """Return whether a media query is only for print or speech."""
    return bool(media) and all(
        parse_keyword(query[:1]) in {"print", "speech", "aural", "braille"}
        for query in split_by_comma(media)
    )


def _is_general(query: Tokens) -> bool:
    query = drop_space(query)
    words = [token.lower_value for token in query if token.type == "ident"]
    if words[:2] == ["not", "print"]:
        return True
    if not set(words) <= {"all", "screen", "only", "and"}:
        return False
    return all(_always_holds(token) for token in query if token.type != "ident")


def _always_holds(feature: Any) -> bool:
    if feature.type != "() block":
        return False
    name, *rest = drop_space(feature.content) or [None]
    least = parse_number(rest[1:])
    if name is None or least is None:
        return False
    said = parse_keyword([name])
    if said in {"max-width", "max-device-width", "max-height"}:
        return least[0] >= _WIDEST
    return said in {"min-width", "min-device-width", "min-height"} and least[0] <= _NARROWEST


def _parse(content: str | Tokens) -> Iterable[tuple[str, Tokens, bool]]:
    return _parse_text(content) if isinstance(content, str) else _parsed(content)


@lru_cache(maxsize=2048)
def _parse_text(text: str) -> tuple[tuple[str, Tokens, bool], ...]:
    return tuple(_parsed(text))


def _parsed(content: str | Tokens) -> Iterator[tuple[str, Tokens, bool]]:
    for item in _blocks(content):
        if item.type == "declaration" and not nests_deeply(item.value):
            name = item.name if item.name.startswith("--") else item.lower_name
            yield name, drop_space(item.value), item.important


def _blocks(content: str | Tokens) -> Sequence[Any]:
    """Return the declarations and the nested rules of a block."""
    found: Sequence[Any] = tinycss2.parse_blocks_contents(
        content, skip_comments=True, skip_whitespace=True
    )
    return found


def _nested(selector: Tokens, around: Sequence[Tokens]) -> Iterator[Tokens]:
    """Yield a selector below those of the rule around it (CSS Nesting)."""
    if not around:
        yield selector
        return
    for outer in around:
        inner: list[Any] = []
        is_named = False
        for token in selector:
            if token.type == "literal" and token.value == "&":
                inner += outer
                is_named = True
            else:
                inner.append(token)
        yield inner if is_named else [*outer, WhitespaceToken(0, 0, " "), *inner]


def _said(tokens: Tokens) -> str:
    return str(tinycss2.serialize(tokens)).strip().lower()


def _weigh(selector: Tokens) -> tuple[frozenset[str], tuple[int, int, int]]:
    """Return a selector's classes and ids, and its specificity.

    See Selectors Level 4, section 17.
    """
    ids = classes = elements = 0
    names: set[str] = set()
    before = None
    for at, token in enumerate(selector):
        is_literal = token.type == "literal"
        if token.type == "whitespace" or (is_literal and token.value in {">", "+", "~"}):
            if any(_is_part(later) for later in selector[at:]):
                names.clear()
        elif token.type == "hash":
            ids += 1
            names.add(f"#{token.value}".lower())
        elif token.type == "ident":
            if before == ".":
                names.add(f".{token.value}".lower())
            if before in {".", ":"}:
                classes += 1
            else:
                elements += 1
        elif token.type in {"[] block", "function"}:
            classes += 1
        before = token.value if is_literal else None
    return frozenset(names), (ids, classes, elements)


def _is_part(token: Any) -> bool:
    return token.type in {"ident", "hash", "[] block", "function"} or (
        token.type == "literal" and token.value == "*"
    )


def _filled(tokens: Tokens, custom: Mapping[str, Tokens], depth: int = 0) -> Tokens:
    filled: list[Any] = []
    for token in tokens:
        if token.type == "function" and token.lower_name == "var" and depth < _MAX_NESTING:
            name, *rest = split_by_comma(token.arguments) or [[]]
            named = custom.get(drop_space(name)[0].value) if drop_space(name) else None
            inner = named if named is not None else (rest[0] if rest else [])
            filled += _filled(drop_space(inner), custom, depth + 1)
        else:
            filled.append(token)
    return filled
