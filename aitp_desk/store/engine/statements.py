"""Parses the statements in ``queries/``, which units yield by name.

A statement begins with a comment ``-- name: What it does.`` and ends with a semicolon; its
parameters are written ``:name``. A statement in an engine's folder replaces the one of its name in
``shared``.

Columns that several statements of a file share are written once, after a comment ``-- columns name:
Whose they are.``, and conditions after ``-- rows name: Which they are.``; the statements refer to
them as ``{name}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

QUERIES = Path(__file__).parents[1] / "queries"

_HEAD = re.compile(r"^-- (?P<shared>columns |rows )?(?P<name>[a-z_]+): (?P<sentence>\S.*)$")
_PART = re.compile(r"\{([a-z_]+)\}")


@cache
def load_statements(engine: str, folder: Path = QUERIES) -> Mapping[str, str]:
    """Read the shared statements and those of one engine, once.

    Parameters:
        engine: name of the engine's folder, such as ``sqlite``; it need not exist.

    Returns:
        SQL by name, without comments and the last semicolon.

    Raises:
        ValueError: a name is used twice, text is outside a statement, or a statement names
            columns or rows that its file does not list.
    """
    return MappingProxyType({**_load_folder(folder / "shared"), **_load_folder(folder / engine)})


def _load_folder(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.sql")):
        for name, sql in _parse(path.read_text(encoding="utf-8"), path.name).items():
            if name in found:
                raise ValueError(
                    f"{path.name}: the statement {name} is defined twice in this folder."
                )
            found[name] = sql
    return found


def _parse(text: str, origin: str) -> dict[str, str]:
    statements: dict[str, list[str]] = {}
    shared: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if head := _HEAD.match(line):
            kept = shared if head["shared"] else statements
            if head["name"] in kept:
                raise ValueError(f"{origin}:{number}: {head['name']} is defined twice.")
            current = kept.setdefault(head["name"], [])
        elif line.strip() and not line.startswith("--"):
            if current is None:
                raise ValueError(f"{origin}:{number}: a statement begins with '-- name: sentence'.")
            current.append(line.rstrip())
    parts = {name: "\n".join(lines).rstrip(";") for name, lines in shared.items()}

    def part_of(found: re.Match[str]) -> str:
        if found[1] not in parts:
            raise ValueError(f"{origin}: there are no columns or rows {found[1]}.")
        return parts[found[1]]

    return {
        name: _PART.sub(part_of, "\n".join(lines)).rstrip(";") for name, lines in statements.items()
    }
