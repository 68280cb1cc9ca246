"""Reads the records of a declared file: JSON, TOML or CSV, as a JSON object."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from math import isfinite
from typing import Any

import msgspec

from aitp_desk.knowledge.media.fields import FieldError
from aitp_desk.knowledge.media.fields import Path as Way
from aitp_desk.knowledge.media.places import MediaPlace
from aitp_desk.model.text import clean_data

MAX_DATA_BYTES = 64 * 1024
"""Data is included in an answer as a whole; larger data is a download."""
MAX_DEPTH = 32
"""How deep data may nest, so that clients need not follow further."""

_FILE_AS_TEXT = re.compile(r"\s*data:[^,\s]*;base64,", re.IGNORECASE)


def read_records(place: MediaPlace, way: Way) -> dict[str, Any]:
    """Read the records of a file as a JSON object; a list becomes its member ``records``.

    Parameters:
        way: the path of the member that names the file.

    Raises:
        FieldError: it is external, too large, or has no records.
    """
    if place.local is None:
        why = "Data must be a file next to the page; an address elsewhere is a download."
        raise FieldError(way, why)
    if place.local.size > MAX_DATA_BYTES:
        raise FieldError(
            way,
            f"{place.name} has {place.local.size} bytes; at most {MAX_DATA_BYTES} go into an"
            " answer. Offer it under downloads.",
        )
    try:
        text = place.local.file.read_text("utf-8-sig")
        if place.format == "json":
            records = msgspec.json.decode(text)
        elif place.format == "toml":
            records = msgspec.to_builtins(tomllib.loads(text))
        elif place.format == "csv":
            records = _rows(text)
        else:
            raise FieldError(way, f"{place.name} is not a JSON, TOML or CSV file.")
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError, csv.Error) as error:
        raise FieldError(way, f"{place.name} cannot be read as {place.format}: {error}.") from None
    if isinstance(records, list):
        records = {"records": records}
    if not isinstance(records, dict):
        raise FieldError(
            way, f"{place.name} has a single value; data must be an object or a list of records."
        )
    check_records(records, way)
    cleaned: dict[str, Any] = clean_data(records)
    return cleaned


def check_records(value: object, way: Way) -> None:
    """Reject numbers that JSON lacks, endless nesting, and binary files encoded as text.

    Binary content is never in an answer (AHP 0.1, section 6.6).

    Raises:
        FieldError: it has such a value.
    """
    level = [value]
    for _ in range(MAX_DEPTH):
        for item in level:
            if isinstance(item, float) and not isfinite(item):
                raise FieldError(
                    way, "Data must have finite numbers; write null instead of others."
                )
            if isinstance(item, str) and _FILE_AS_TEXT.match(item):
                raise FieldError(
                    way, "Data must not contain a file as text (data:…;base64); write its address."
                )
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return
    raise FieldError(way, f"Data may be at most {MAX_DEPTH} levels deep.")


def _inside(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file by the names in its first line; values stay texts.

    The delimiter is that of the names: a comma, or else a semicolon or a tab, as programs write it
    where numbers have a decimal comma.
    """
    first = text.partition("\n")[0]
    divider = next((sign for sign in ",;\t" if sign in first), ",")
    header, *rows = list(csv.reader(io.StringIO(text), strict=True, delimiter=divider)) or [[]]
    if not header:
        raise ValueError("its first line names no columns")
    if len(set(header)) < len(header):
        raise ValueError("two of its columns have the same name")
    for number, row in enumerate(rows, start=2):
        if row and len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} values and {len(header)} are named")
    return [dict(zip(header, row, strict=True)) for row in rows if row]
