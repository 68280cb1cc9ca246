"""Writes facts that a page declares as JSON-LD (schema.org) as readable sections.

Only the subjects of a page are read: products, questions, instructions, events, recipes and places.
A fact that the page shows anyway is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape, unescape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from aitp_desk.knowledge.sources.html.frame import find_main

MAX_CHARACTERS = 512 * 1024
MAX_THINGS = 200
MAX_DEPTH = 8
_MAX_FACT = 2000
_MAX_HTML = 20_000
_MAX_FACTS = 60
_BEGINNING = 120
"""How much of a text is compared with the page."""

_TYPES = frozenset(
    "Product ProductGroup FAQPage QAPage HowTo Recipe Event Festival LocalBusiness Service Course"
    " JobPosting SoftwareApplication VacationRental Hotel Store Dentist Physician Library Museum"
    " TouristAttraction".split()
)
_LIKE = ("Event", "Business", "Store", "Shop", "Restaurant", "Establishment", "Service", "Agency")
"""The endings of the names of narrower types."""
_SKIPPED = frozenset(
    "@context @id @graph image logo url sameAs mainEntityOfPage thumbnail thumbnailUrl contentUrl"
    " embedUrl potentialAction breadcrumb hasMap review photo video isPartOf publisher inLanguage"
    " priceValidUntil identifier interactionStatistic step recipeInstructions acceptedAnswer"
    " suggestedAnswer mainEntity position itemListElement name description @type".split()
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SCHEMA = re.compile(r"https?://schema\.org/")
_DURATION = re.compile(
    r"P(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?")
"""A local time: its offset from UTC is no use to a visitor."""
_UNITS = {"d": "day", "h": "hour", "m": "minute", "s": "second"}
_SPACE = re.compile(r"\s+")
_BLOCK = re.compile(r"(?=</?(?:p|div|li|br|[uo]l|tr|t[dh]|h\d)\b)", re.IGNORECASE)
_LABELS = {
    "sku": "SKU",
    "gtin": "GTIN",
    "mpn": "MPN",
    "offers": "Price",
    "aggregateRating": "Rating",
    "openingHoursSpecification": "Opening hours",
    "specialOpeningHoursSpecification": "Special opening hours",
    "recipeIngredient": "Ingredients",
    "recipeYield": "Servings",
    "additionalProperty": "Properties",
}
_OF_A_BUSINESS = frozenset("openingHours openingHoursSpecification priceRange".split())
"""Many narrower types have no common ending: bakeries, pharmacies, hospitals."""


def write_facts(declarations: Iterable[str], shown: str) -> str:
    """Write the facts that a page declares, as HTML.

    Parameters:
        declarations: the JSON-LD of the page.
        shown: its text.

    Returns:
        Empty if it declares none that it does not show.
    """
    seen = _folded(shown)
    parts: list[str] = []
    left = MAX_CHARACTERS
    for text in declarations:
        left -= len(text)
        if left < 0:
            break
        try:
            declared = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for thing in _things(declared):
            parts += _section(thing, seen)
    return "\n".join(list(dict.fromkeys(parts))[:MAX_THINGS])


def _things(declared: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the things of a declaration, and those in its graph."""
    if depth > MAX_DEPTH:
        return
    if isinstance(declared, list):
        for one in declared[:MAX_THINGS]:
            yield from _things(one, depth + 1)
    elif isinstance(declared, dict):
        if is_described(declared):
            yield declared
        for name in ("@graph", "mainEntity", "itemListElement", "item"):
            if name in declared and not (name == "mainEntity" and is_described(declared)):
                yield from _things(declared[name], depth + 1)


def list_types(thing: Mapping[str, Any]) -> list[str]:
    """Return the names of a thing's types, without the address of schema.org."""
    said = thing.get("@type")
    names = said if isinstance(said, list) else [said]
    return [_SCHEMA.sub("", name) for name in names if isinstance(name, str)]


def is_described(thing: Mapping[str, Any]) -> bool:
    """Return whether a thing is of a type whose facts are read."""
    if any(name in _TYPES or name.endswith(_LIKE) for name in list_types(thing)):
        return True
    return not _OF_A_BUSINESS.isdisjoint(thing) or ("address" in thing and "geo" in thing)


def _section(thing: Mapping[str, Any], seen: str) -> Iterator[str]:
    kinds = list_types(thing)
    if {"FAQPage", "QAPage"} & set(kinds):
        for question in _listed(thing.get("mainEntity")):
            yield from _question(question, seen)
        return
    name = _said(thing.get("name"))
    items = [
        f"<li><b>{escape(_label(member))}:</b> {escape(said)}</li>"
        for member, value in list(thing.items())[:_MAX_FACTS]
        if _is_fact(member) and (said := _said(value)) and _folded(said) not in seen
    ]
    description = _said(thing.get("description"))
    about = "" if _folded(description)[:_BEGINNING] in seen else f"<p>{escape(description)}</p>"
    steps = list(_steps(thing.get("step") or thing.get("recipeInstructions")))
    if all(_folded(step) in seen for step in steps):
        steps = []
    if not (items or about or steps):
        return
    heading = f"<h2>{escape(name)}</h2>" if name else ""
    facts = f"<ul>{''.join(items)}</ul>" if items else ""
    way = f"<ol>{''.join(f'<li>{escape(step)}</li>' for step in steps)}</ol>" if steps else ""
    yield f"<section>{heading}{about}{facts}{way}</section>"


def _question(question: Any, seen: str) -> Iterator[str]:
    if not isinstance(question, dict):
        return
    asked = _said(question.get("name") or question.get("text"))
    answers = [
        _said(answer.get("text"))
        for name in ("acceptedAnswer", "suggestedAnswer")
        for answer in _listed(question.get(name))
        if isinstance(answer, dict)
    ]
    said = [answer for answer in answers if answer]
    if asked and said and not all(_folded(answer)[:_BEGINNING] in seen for answer in said):
        paragraphs = "".join(f"<p>{escape(answer)}</p>" for answer in said)
        yield f"<section><h2>{escape(asked)}</h2>{paragraphs}</section>"


def _is_fact(member: object) -> bool:
    return isinstance(member, str) and not member.startswith("@") and member not in _SKIPPED


def _steps(steps: Any, depth: int = 0) -> Iterator[str]:
    """Yield the steps of instructions, including nested ones."""
    for step in _listed(steps):
        if isinstance(step, str):
            yield from filter(None, [_plain(step)])
        elif isinstance(step, dict) and depth < MAX_DEPTH:
            within = step.get("itemListElement") or step.get("steps")
            name, text = _said(step.get("name")), _said(step.get("text"))
            if text or (name and not within):
                yield text if text.startswith(name) else f"{name}: {text}".strip(": ")
            yield from _steps(within, depth + 1)


def _said(value: Any, depth: int = 0) -> str:
    """Return a value as text: a price with its currency, an address, hours, a list."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, list):
        said = dict.fromkeys(_said(one, depth + 1) for one in value[:MAX_THINGS])
        return ("; " if any(isinstance(one, dict) for one in value) else ", ").join(
            filter(None, said)
        )[:_MAX_FACT]
    if isinstance(value, dict) and depth < MAX_DEPTH:
        return _object(value, depth)[:_MAX_FACT]
    return ""


def _object(thing: Mapping[str, Any], depth: int) -> str:
    def get(name: str) -> str:
        return _said(thing.get(name), depth + 1)

    kinds = list_types(thing)
    if "price" in thing or "lowPrice" in thing:
        prices = [get("price")] if "price" in thing else [get("lowPrice"), get("highPrice")]
        price = f"{' to '.join(filter(None, prices))} {get('priceCurrency')}".strip()
        rest = [get("name"), price, get("availability"), get("shippingDetails")]
        return ", ".join(filter(None, rest))
    if "PostalAddress" in kinds:
        town = f"{get('postalCode')} {get('addressLocality')}".strip()
        places = (get("streetAddress"), town, get("addressRegion"), get("addressCountry"))
        return ", ".join(filter(None, places))
    if "OpeningHoursSpecification" in kinds:
        hours = f"{get('opens')} to {get('closes')}" if "opens" in thing else "closed"
        days = get("dayOfWeek") or f"{get('validFrom')} to {get('validThrough')}"
        return f"{days} {hours}".strip()
    if "ratingValue" in thing:
        count = get("reviewCount") or get("ratingCount")
        best = f" of {get('bestRating')}" if "bestRating" in thing else ""
        return f"{get('ratingValue')}{best}" + (f" ({count} ratings)" if count else "")
    if "value" in thing or "minValue" in thing:
        value = get("value") or f"{get('minValue')} to {get('maxValue')}"
        unit = get("unitText") or get("currency") or get("unitCode")
        name = f"{get('name')}: " if "name" in thing else ""
        return f"{name}{value} {unit}".strip()
    name = get("name")
    rest = [
        f"{_label(key).lower()} {said}"
        for key, value in thing.items()
        if _is_fact(key) and (said := _said(value, depth + 1))
    ]
    if name and get("address"):
        return f"{name}, {get('address')}"
    if name and rest:
        return f"{name} ({', '.join(rest)})"
    return name or ", ".join(rest)


def _label(name: str) -> str:
    if name in _LABELS:
        return _LABELS[name]
    words = _WORDS.sub(" ", name.rpartition(":")[2]).lower()
    return words[:1].upper() + words[1:]


def _listed(value: Any) -> list[Any]:
    return value[:MAX_THINGS] if isinstance(value, list) else [value] if value else []


def _plain(text: str) -> str:
    if text.startswith(("http://schema.org/", "https://schema.org/")):
        return _WORDS.sub(" ", text.rpartition("/")[2])
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        return f"{moment[1]} {moment[2]}"
    duration = _DURATION.fullmatch(text) if text.startswith("P") and len(text) > 2 else None
    if duration is not None:
        counts = ((duration[unit], word) for unit, word in _UNITS.items() if duration[unit])
        return " ".join(f"{count} {word}{'s' if count != '1' else ''}" for count, word in counts)
    if "<" in text:
        tree = LexborHTMLParser(_BLOCK.sub(" ", text[:_MAX_HTML]))
        body = find_main(tree)
        text = body.text() if body is not None else ""
    elif "&" in text:
        text = unescape(text)
    return _SPACE.sub(" ", text).strip()[:_MAX_FACT]


def _folded(text: str) -> str:
    """Return a text for comparison: elements split words differently than the facts."""
    return _SPACE.sub("", text).casefold()
