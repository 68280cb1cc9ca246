"""Writes the text form (agents.txt 1.0, section 3).

The text is parsed before it is returned: a document that would read differently is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.protocols.agents_txt import keys
from aitp_desk.protocols.agents_txt.document import Capability, Document, Parameter
from aitp_desk.protocols.agents_txt.parser import examine_text

_FIRST_LINE = "# agents.txt"


class NotWritable(Exception):
    """The text form cannot express a document's value, such as a line break."""


def write_text(document: Document) -> str:
    """Write a document as agents.txt.

    Members that the specification does not define are written where the text has a place for them:
    in the blocks of capabilities and agents, and only if they are text.

    Raises:
        NotWritable: a value would read differently; names the first such member.
    """
    document = _without_what_has_no_place(document)
    text = "\n".join(_lines(document)) + "\n"
    read = examine_text(text).document
    if read != document:
        different = _first_difference(msgspec.to_builtins(document), msgspec.to_builtins(read))
        raise NotWritable(f"{different}: cannot be written as text without a change of meaning.")
    return text


def _without_what_has_no_place(document: Document) -> Document:
    replace = msgspec.structs.replace
    return replace(
        document,
        site=replace(document.site, further={}),
        capabilities=tuple(
            replace(
                capability,
                auth=replace(capability.auth, further={}),
                parameters=tuple(replace(one, further={}) for one in capability.parameters),
                further=_texts(capability.further),
            )
            for capability in document.capabilities
        ),
        agents={
            name: replace(policy, further=_texts(policy.further))
            for name, policy in document.agents.items()
        },
        further={},
    )


def _texts(further: Mapping[str, Any]) -> dict[str, str]:
    return {key: value for key, value in further.items() if isinstance(value, str)}


def _lines(document: Document) -> Iterator[str]:
    site = document.site
    yield _FIRST_LINE
    yield f"{keys.VERSION}: {document.version}"
    yield from _said({keys.GENERATED_AT: document.generated_at})
    yield ""
    values = (site.name, site.url, site.description, site.contact, site.privacy_policy)
    yield from _said(dict(zip(keys.SITE.values(), values, strict=True)))
    if document.metadata:
        yield ""
        yield from _said(document.metadata)
    for capability in document.capabilities:
        yield ""
        yield f"{keys.CAPABILITY}: {capability.id}"
        yield from _said(_of_capability(capability), indent="  ")
        for parameter in capability.parameters:
            yield f"  Param: {_parameter(parameter)}"
        yield from _said(capability.further, indent="  ")
    if document.access.allow or document.access.disallow:
        yield ""
    for key, patterns in (
        (keys.ALLOW, document.access.allow),
        (keys.DISALLOW, document.access.disallow),
    ):
        for pattern in patterns:
            yield f"{key}: {pattern}"
    for name, policy in document.agents.items():
        yield ""
        yield f"{keys.AGENT}: {name}"
        listed = policy.capabilities
        said = {
            "Rate-Limit": None if policy.rate_limit is None else str(policy.rate_limit),
            "Capabilities": None if listed is None else ", ".join(listed),
        }
        yield from _said(said, indent="  ")
        yield from _said(policy.further, indent="  ")


def _of_capability(capability: Capability) -> dict[str, str | None]:
    auth = capability.auth
    return {
        "Endpoint": capability.endpoint,
        "Method": capability.method,
        "Protocol": capability.protocol,
        "Auth": auth.type,
        "Auth-Endpoint": auth.token_endpoint,
        "Auth-Docs": auth.docs_url,
        "Registration-Endpoint": auth.registration_endpoint,
        "Scopes": ", ".join(capability.scopes) or None,
        "Rate-Limit": None if capability.rate_limit is None else str(capability.rate_limit),
        "Description": capability.description,
        "OpenAPI": capability.openapi,
    }


def _parameter(parameter: Parameter) -> str:
    """Write a parameter, with a hyphen before its description.

    Some parsers drop the whole line at a dash.
    """
    required = ", required" if parameter.is_required else ""
    told = "" if parameter.description is None else f" - {parameter.description}"
    return f"{parameter.name} ({parameter.location}, {parameter.type}{required}){told}"


def _said(values: Mapping[str, str | None], indent: str = "") -> Iterator[str]:
    for key, value in values.items():
        if value is not None:
            yield f"{indent}{key}: {value}".rstrip(" ")


def _first_difference(written: Any, read: Any, path: str = "") -> str:
    """Return the path of the first member that differs."""
    if isinstance(written, dict) and isinstance(read, dict):
        for name in (*written, *read):
            if name not in written or name not in read or written[name] != read[name]:
                below = f"{path}.{name}" if path else str(name)
                return _first_difference(written.get(name), read.get(name), below)
    if isinstance(written, list | tuple) and isinstance(read, list | tuple):
        for place, (one, other) in enumerate(zip(written, read, strict=False)):
            if one != other:
                return _first_difference(one, other, f"{path}[{place}]")
    return path
