"""Looking for planted secrets wherever bytes of a desk lie, in every form that they could take."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path


def forms_of(secret: str) -> frozenset[bytes]:
    """A text as it is, as JSON escapes it, in hexadecimal, and in base64 wherever it may begin."""
    plain = secret.encode()
    escaped = json.dumps(secret)[1:-1]
    twice = json.dumps(escaped)[1:-1]
    forms = {plain, plain.hex().encode(), plain.hex().upper().encode()}
    forms |= {escaped.encode(), twice.encode()}
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + plain)
        # what the bytes before and after it change is left out
        inner = whole[4 if shift else 0 : len(whole) // 4 * 4 - 4]
        forms |= {inner, inner.replace(b"+", b"-").replace(b"/", b"_")}
    return frozenset(form for form in forms if len(form) >= 6)


def found_in(places: Mapping[str, bytes], secrets: Iterable[str]) -> set[tuple[str, str]]:
    """Where which secrets stand."""
    return {
        (name, secret)
        for secret in secrets
        for form in forms_of(secret)
        for name, content in places.items()
        if form in content
    }


def bytes_below(folder: Path, *, but: Iterable[str] = ()) -> dict[str, bytes]:
    """Every byte of the files below a folder, by their paths there.

    Parameters:
        but: names of files that are left out.
    """
    left = frozenset(but)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in left
    }
