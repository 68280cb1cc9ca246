"""Renders the page that shows an OpenAPI document to people.

The page is text, made from the document only; it loads nothing.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.config import Site
from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.blocks.samples import write_samples
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import ENGLISH, find_texts
from aitp_desk.web.pages.renderer import NOTHING, read_template, render_frame

_API = read_template("api.html")
_CALL = read_template("api_call.html")
_SAMPLES = read_template("samples.html")
_CALLS = "capabilities"
_MANY = 40
"""The longest request body on one line, in characters."""


def render_api(
    site: Site,
    encoded: bytes,
    path: str,
    examples: Sequence[str] | None = None,
    brand: Brand = PLAIN,
) -> bytes:
    """Render the page.

    Parameters:
        encoded: the document.
        path: of the document.
        examples: questions for the examples of requests; None for a page without them.
    """
    texts = find_texts(ENGLISH)
    samples = NOTHING
    if examples is not None:
        samples = fill_template(texts.template(_SAMPLES), **write_samples(site.url, examples))
    document = msgspec.json.decode(encoded)
    operations = list(_operations(document))
    calls = [_call(site, document, *one) for one in operations if _CALLS in one[2]["tags"]]
    tags = [tag["name"] for tag in document["tags"] if tag["name"] != _CALLS]
    sections = [_section(tag, [one for one in operations if tag in one[2]["tags"]]) for tag in tags]
    main = fill_template(
        _API,
        site=site.name,
        document=path,
        samples=samples,
        calls=join_markup(calls),
        addresses=join_markup(sections),
    )
    return render_frame(
        site,
        main,
        title=f"{site.name} for programs",
        description=f"What programs can call at {site.name}, and how.",
        texts=texts,
        language=ENGLISH,
        brand=brand,
    )


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every operation with its method and its path."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def _section(tag: str, operations: list[tuple[str, str, dict[str, Any]]]) -> Markup:
    rows = join_markup(
        fill_template(
            "<tr><td><code>$method $path</code></td><td>$summary</td></tr>",
            method=method,
            path=path,
            summary=operation["summary"],
        )
        for method, path, operation in operations
    )
    return fill_template(
        '<section>\n<h3>$tag</h3>\n<table tabindex="0">\n'
        "<thead><tr><th>Address</th><th>What it does</th></tr>"
        "</thead>\n<tbody>\n$rows\n</tbody>\n</table>\n</section>",
        tag=tag,
        rows=rows,
    )


def _call(
    site: Site, document: Mapping[str, Any], _method: str, path: str, operation: dict[str, Any]
) -> Markup:
    taken = operation["requestBody"]["content"][JSON]
    schema = _look_up(document, taken["schema"])
    shown = [one["value"] for one in taken.get("examples", {}).values()]
    example = shown[0] if shown else None
    if example is None:
        members = schema.get("properties", {})
        example = {name: _sample(members.get(name)) for name in schema.get("required", ())}
    needs_key = {} not in operation.get("security", [{}])
    told = operation.get("description", "")
    return fill_template(
        _CALL,
        name=operation["operationId"],
        summary=operation["summary"],
        description=join_markup(
            fill_template("<p>$it</p>", it=part) for part in told.split("\n\n") if part
        ),
        example=_curl(site.url + path, example, needs_key=needs_key),
        needs="It needs an API key or an access token." if needs_key else "It needs no credential.",
        arguments=_arguments(document, schema),
    )


def _arguments(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Markup:
    properties = schema.get("properties", {})
    if not properties:
        return NOTHING
    required = schema.get("required", ())
    rows = join_markup(
        fill_template(
            "<tr><td><code>$name</code></td><td>$kind</td><td>$told</td></tr>",
            name=name,
            kind=f"{_kind(document, one)}{', required' if name in required else ''}",
            told=_told(document, one),
        )
        for name, one in properties.items()
    )
    return fill_template(
        '<table tabindex="0">\n'
        "<thead><tr><th>Argument</th><th>Type</th><th>What it is</th></tr></thead>\n"
        "<tbody>\n$rows\n</tbody>\n</table>",
        rows=rows,
    )


def _look_up(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema, with a ``$ref`` into the document resolved."""
    place = schema.get("$ref")
    if not isinstance(place, str) or not place.startswith("#/"):
        return schema
    found: Any = document
    for part in place.removeprefix("#/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _kind(document: Mapping[str, Any], schema: Any) -> str:
    """Name the type of a value, in a word or two."""
    if not isinstance(schema, Mapping):
        return "anything"
    known = _look_up(document, schema)
    if "enum" in known:
        return "one of " + ", ".join(json.dumps(one) for one in known["enum"])
    several = known.get("anyOf", known.get("oneOf"))
    if several:
        return " or ".join(dict.fromkeys(_kind(document, one) for one in several))
    kind = known.get("type", "anything")
    if kind == "array" and "items" in known:
        return f"list of {_kind(document, known['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _told(document: Mapping[str, Any], schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return ""
    return str(schema.get("description") or _look_up(document, schema).get("description") or "")


def _sample(schema: Any) -> Any:
    """Return a sample value, where the declaration has no example."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    samples: dict[Any, Any] = {"integer": 1, "number": 1, "boolean": True, "array": []}
    return samples.get(kind, "…")


def _curl(url: str, arguments: Any, *, needs_key: bool) -> str:
    key = ["-H 'Authorization: Bearer YOUR_KEY'"] if needs_key else []
    indent = 2 if len(str(arguments)) > _MANY else None
    body = json.dumps(arguments, ensure_ascii=False, indent=indent)
    parts = (f"curl {shlex.quote(url)}", *key, "-H 'Content-Type: application/json'")
    return " \\\n  ".join((*parts, f"-d {shlex.quote(body)}"))
