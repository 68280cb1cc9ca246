"""The statements that units yield by name, parsed from ``queries/*.sql``.

A statement begins with a comment ``-- name: What it does.`` and ends with a semicolon; its
parameters are written ``:name``. What only one engine reads stands under the same name in that
engine's folder and replaces the shared one.
"""

from __future__ import annotations

import re
from pathlib import Path

QUERIES = Path(__file__).parent / "queries"

_HEAD = re.compile(r"^-- (?P<name>[a-z_]+): (?P<sentence>\S.*)$")


def load_statements(engine: str, folder: Path = QUERIES) -> dict[str, str]:
    """Read the shared statements and those of one engine.

    Parameters:
        engine: name of the engine's folder, such as ``sqlite``; it need not exist.

    Returns:
        SQL by name, without comments and the last semicolon.

    Raises:
        ValueError: a name stands twice, or text stands outside a statement.
    """
    return {**_load_folder(folder), **_load_folder(folder / engine)}


def _load_folder(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.sql")):
        for name, sql in _parse(path.read_text(encoding="utf-8"), path.name).items():
            if name in found:
                raise ValueError(f"{path.name}: the statement {name} stands twice in this folder.")
            found[name] = sql
    return found


def _parse(text: str, origin: str) -> dict[str, str]:
    lines: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if head := _HEAD.match(line):
            if head["name"] in lines:
                raise ValueError(f"{origin}:{number}: the statement {head['name']} stands twice.")
            current = lines.setdefault(head["name"], [])
        elif line.strip() and not line.startswith("--"):
            if current is None:
                raise ValueError(f"{origin}:{number}: a statement begins with '-- name: sentence'.")
            current.append(line.rstrip())
    return {name: "\n".join(parts).rstrip(";") for name, parts in lines.items()}
