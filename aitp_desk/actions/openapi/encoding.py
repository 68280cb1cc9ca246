"""Encodes values in paths, queries and headers by OpenAPI's styles (RFC 6570).

Everything but unreserved characters is percent-encoded, so that a value is never more than a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from aitp_desk.model.errors import InvalidRequest

_SLASHES = re.compile(r"[/\\]")
_HEADER = re.compile(r"[\x20-\x7e]*")
_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


def encode_text(value: Any, name: str) -> str:
    """Encode a single value as text.

    Raises:
        InvalidRequest: it is a list, an object, or contains half a surrogate pair.
    """
    match value:
        case str():
            if not _is_whole(value):
                raise InvalidRequest(
                    f"'{name}' contains half of a surrogate pair, which is not a character.",
                    param=name,
                )
            return value
        case bool() | int() | float():
            return msgspec.json.encode(value).decode()
        case None:
            return ""
        case _:
            raise InvalidRequest(
                f"'{name}' must be a single value, not a list or an object.", param=name
            )


def encode_path(value: Any, name: str) -> str:
    """Encode a value as part of a path.

    Raises:
        InvalidRequest: it is empty, or could lead to another path (``.``, ``..``).
    """
    texts = [encode_text(each, name) for each in (value if isinstance(value, list) else [value])]
    for text in texts or [""]:
        if not text or {".", ".."}.intersection(_SLASHES.split(text)):
            raise InvalidRequest(
                f"'{name}' is part of an address. It must not be empty, and must not"
                " contain . or .. as a segment.",
                param=name,
            )
    return ",".join(quote(text, safe="") for text in texts)


def encode_query(value: Any, name: str, style: str, *, explode: bool, label: str) -> Iterator[str]:
    """Yield the encoded ``name=value`` pairs of a value; none for None.

    Parameters:
        name: the service's name of the parameter.
        style: ``form``, ``spaceDelimited``, ``pipeDelimited`` or ``deepObject``.
        label: the name in errors.

    Raises:
        InvalidRequest: it cannot be encoded in this style.
    """
    if value is None:
        return
    key = quote(name, safe="")

    def write(one: Any) -> str:
        return quote(encode_text(one, label), safe="")

    if style == "deepObject":
        if not isinstance(value, Mapping):
            raise InvalidRequest(f"'{label}' must be an object.", param=label)
        for member, each in value.items():
            yield f"{quote(f'{name}[{member}]', safe='')}={write(each)}"
    elif isinstance(value, Mapping) and explode:
        for member, each in value.items():
            yield f"{quote(member, safe='')}={write(each)}"
    elif isinstance(value, list) and explode:
        for each in value:
            yield f"{key}={write(each)}"
    else:
        yield f"{key}={_DELIMITERS[style].join(_flat(value, write))}"


def encode_header(value: Any, name: str) -> str:
    """Encode a value as a header.

    Raises:
        InvalidRequest: it contains characters that a header cannot have.
    """
    several = value if isinstance(value, list) else [value]
    text = ",".join(encode_text(each, name) for each in several)
    if not _HEADER.fullmatch(text):
        raise InvalidRequest(f"'{name}' must be ASCII characters on one line.", param=name)
    return text.strip()


def _flat(value: Any, write: Callable[[Any], str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for member, each in value.items():
            yield write(member)
            yield write(each)
    else:
        yield from map(write, value if isinstance(value, list) else [value])


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
