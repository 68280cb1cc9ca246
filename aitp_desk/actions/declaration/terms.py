"""Validates the terms of a declaration and converts them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Any, get_args

import msgspec

from aitp_desk.actions.declaration.action import Terms
from aitp_desk.model.calls import action
from aitp_desk.model.calls.action import EXTENSION_TYPE, Example, Related, Safety
from aitp_desk.model.money import Money

MOST_SECONDS = 86_400

_DURATION = re.compile(
    r"P(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?"
    r"(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?",
    re.ASCII,
)
_COST = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ([A-Z]{3})", re.ASCII)
_CHANGING = ("action", "async")
_TYPES = (
    action.TEXT_ANSWER,
    action.DATA,
    action.FEED,
    action.VIDEO,
    action.AUDIO,
    action.IMAGE,
    action.DOWNLOAD,
    action.ACTION_RESULT,
)


def check_terms(terms: Terms) -> Iterator[str]:
    """Yield the faults of a declaration's terms, as text that follows its name."""
    yield from _check_word("kind", terms.kind, action.Kind)
    yield from check_open_to(terms.open_to)
    if terms.mutability is not None:
        yield from _check_word("mutability", terms.mutability, action.Mutability)
    if terms.blast_radius is not None:
        yield from _check_word("blast_radius", terms.blast_radius, action.BlastRadius)
    yield from _check_safety(terms)
    if terms.kind in _CHANGING and terms.open_to == "anyone" and terms.prepaid is not True:
        yield (
            f"has kind={terms.kind!r} and is open to anyone, which only a query or what is prepaid"
            ' may be; remove open_to, or write kind="query" if it changes nothing.'
        )
    if not _is_time(terms.deadline):
        yield (
            f"has deadline={terms.deadline!r}; it must be a number of seconds up to {MOST_SECONDS}."
        )
    if not callable(terms.cost) and terms.cost is not None and read_cost(terms.cost) is None:
        yield f'has cost={terms.cost!r}; it must be an amount above 0 such as "29.99 EUR".'
    if not isinstance(terms.prepaid, bool):
        yield f"has prepaid={terms.prepaid!r}; it must be true or false."
    elif terms.prepaid and terms.cost is None:
        yield "is prepaid but has no cost; write cost=, or remove prepaid."
    yield from _check_approval(terms)
    if terms.answer_types is not None:
        yield from _check_answer_types(terms.answer_types)
    yield from _check_list("examples", terms.examples)
    for example in list_entries(terms.examples):
        if not isinstance(example, (str, Example)) or not read_example(example).text.strip():
            yield f"has the example {example!r}; it must be text, or Example(text, arguments)."
    yield from check_related(terms.related)


def check_open_to(open_to: Any) -> Iterator[str]:
    """Yield a fault of ``open_to``."""
    yield from _check_word("open_to", open_to, action.OpenTo)


def check_related(links: Sequence[Any]) -> Iterator[str]:
    """Yield the faults of links."""
    yield from _check_list("related", links)
    for related in list_entries(links):
        if not isinstance(related, Related) or not related.href.startswith(("/", "https://")):
            yield (
                f"has {related!r} as related; it must be Related(rel, href), with a path"
                " such as '/orders' or an https:// address as href."
            )


def _check_word(name: str, value: Any, words: Any) -> Iterator[str]:
    if value not in get_args(words):
        yield f"has {name}={value!r}; it must be {_listed(get_args(words))}."


def _check_list(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, (list, tuple)):
        yield f"has {name}={value!r}; it must be a list."


def list_entries(value: Any) -> Sequence[Any]:
    """Return the entries of a list; none of another value, which is reported elsewhere."""
    return value if isinstance(value, (list, tuple)) else ()


def _check_answer_types(kinds: Any) -> Iterator[str]:
    yield from _check_list("answer_types", kinds)
    if kinds in ([], ()):
        yield f"has no answer types; write {_listed(_TYPES)}, or remove answer_types."
    for kind in list_entries(kinds):
        if kind not in _TYPES and not EXTENSION_TYPE.fullmatch(str(kind)):
            yield (
                f"has the answer type {kind!r}; it must be {_listed(_TYPES)}, or a custom"
                " type such as 'x-shop/receipt'."
            )


def _check_safety(terms: Terms) -> Iterator[str]:
    if terms.kind in _CHANGING:
        for name, takes in (
            ("mutability", action.Mutability),
            ("blast_radius", action.BlastRadius),
        ):
            if getattr(terms, name) is None:
                yield (
                    f"has kind={terms.kind!r} but no {name}; write {name}= with"
                    f" {_listed(get_args(takes))}."
                )
    elif terms.kind == "query" and terms.mutability not in (None, "read_only"):
        yield (
            f"is a query, which changes nothing, but has mutability={terms.mutability!r};"
            ' write kind="action".'
        )
    if terms.reversible_within is not None:
        if terms.mutability != "reversible":
            yield 'has reversible_within, which requires mutability="reversible".'
        if not _DURATION.fullmatch(str(terms.reversible_within)):
            yield (
                f"has reversible_within={terms.reversible_within!r}; it must be an ISO"
                " 8601 duration such as P30D."
            )


def _check_approval(terms: Terms) -> Iterator[str]:
    if not callable(terms.approval) and not isinstance(terms.approval, bool):
        yield (
            f"has approval={terms.approval!r}; it must be True, or a function of some of"
            " the parameters that returns true or false."
        )
    elif terms.approval is not False and terms.kind != "async":
        yield (
            f"has kind={terms.kind!r} and needs a person's approval, for which the caller"
            ' waits; write kind="async".'
        )


def read_approval(terms: Terms) -> action.Approval:
    """Return whether a person approves a call first, from valid terms."""
    if callable(terms.approval):
        return "sometimes"
    return "always" if terms.approval else "never"


def read_safety(terms: Terms) -> Safety:
    """Return how much harm a call can do, from valid terms."""
    return Safety(
        mutability=terms.mutability or "read_only",
        blast_radius=terms.blast_radius or "self",
        reversible_within=terms.reversible_within,
        confirmation_recommended=terms.confirmation_recommended,
    )


def read_cost(cost: Any) -> Money | None:
    """Parse a fixed cost; None if it is malformed or zero."""
    if isinstance(cost, str):
        cost = parse_amount(cost)
    return cost if isinstance(cost, Money) and is_amount(cost) and cost.amount > 0 else None


def parse_amount(text: str) -> Money | None:
    """Parse an amount such as ``29.99 EUR``; None if it is malformed."""
    found = _COST.fullmatch(text)
    return Money(Decimal(found[1]), found[2]) if found else None


def is_amount(money: Money) -> bool:
    """Return whether money is a valid cost."""
    try:
        msgspec.convert(msgspec.to_builtins(money), Money)
    except msgspec.ValidationError:
        return False
    return money.amount.is_finite() and money.amount >= 0


def read_example(example: str | Example) -> Example:
    """Return an example; text alone is one."""
    return Example(example) if isinstance(example, str) else example


def read_answer_types(terms: Terms) -> tuple[str, ...]:
    """Return the content types of an action's answers."""
    if terms.answer_types is not None:
        return tuple(terms.answer_types)
    richest = action.DATA if terms.kind == "query" else action.ACTION_RESULT
    return (richest, action.TEXT_ANSWER)


def _is_time(seconds: Any) -> bool:
    return (
        isinstance(seconds, (int, float))
        and not isinstance(seconds, bool)
        and math.isfinite(seconds)
        and 0 < seconds <= MOST_SECONDS
    )


def _listed(values: Collection[str]) -> str:
    *most, last = map(repr, values)
    return f"{', '.join(most)} or {last}"
