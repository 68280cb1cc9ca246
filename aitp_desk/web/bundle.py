"""Bundles plain ES modules into one file, so that a page needs few requests; there is no build."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

_IMPORT = re.compile(rb'^import [^;]+ from "[./]+(?:[a-z]+/)*([a-z]+)\.js";\n', re.MULTILINE)
_CONSTANT = re.compile(
    r"^const (?P<name>[A-Z][A-Z0-9_]+) = (?P<value>"
    r'"[^"\n]*"|\d[\d._]*'
    r"|/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[iu]*"
    r");\n",
    re.MULTILINE,
)
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_EXPORT = re.compile(rb"^export ", re.MULTILINE)


def read_modules(folder: Path) -> dict[str, bytes]:
    """Return the modules' texts below a folder, by name without the extension."""
    return {path.stem: path.read_bytes() for path in folder.rglob("*.js")}


def bundle_modules(name: str, modules: Mapping[str, bytes], *, exports: bool = False) -> bytes:
    """Bundle a module and all that it imports into one module, dependencies first.

    No two modules may declare the same name at their top level; a test checks that.

    Parameters:
        exports: whether what the named module exports stays exported.
    """
    bundled: dict[str, bytes] = {}
    _add(name, modules, bundled)
    if exports:
        bundled[name] = _IMPORT.sub(b"", modules[name])
    return b"\n".join(bundled.values())


def put_constants(code: str) -> str:
    """Replace names of constants that are used once by their values.

    Those are numbers, strings, and regular expressions that keep no place.
    """
    uses = Counter(_CAPITALS.findall(code))
    once = {
        found["name"]: found["value"]
        for found in _CONSTANT.finditer(code)
        if uses[found["name"]] == 2
    }
    rest = _CONSTANT.sub(lambda found: "" if found["name"] in once else found[0], code)
    return _CAPITALS.sub(lambda found: once.get(found[0], found[0]), rest)


def _add(name: str, modules: Mapping[str, bytes], bundled: dict[str, bytes]) -> None:
    if name in bundled:
        return
    source = modules[name]
    for imported in _IMPORT.findall(source):
        _add(imported.decode(), modules, bundled)
    bundled[name] = _EXPORT.sub(b"", _IMPORT.sub(b"", source))
