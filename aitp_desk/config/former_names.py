"""Settings and values that had another name in an earlier release; both are accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_SECTIONS = {"claude": "model"}
_SETTINGS = {"claude.model": "model.name", "claude.max_answer_tokens": "model.max_tokens"}
_VALUES: dict[tuple[str, ...], dict[str, str]] = {("mcp_server", "serve"): {"auto": "always"}}


def current_path(path: Sequence[str]) -> tuple[str, ...]:
    """Return the path of a setting under its name of today."""
    section, *rest = path
    if section not in _SECTIONS:
        return tuple(path)
    name = ".".join(path)
    return tuple(_SETTINGS.get(name, ".".join((_SECTIONS[section], *rest))).split("."))


def current_value(path: Sequence[str], value: Any) -> Any:
    """Return the value of a setting under its name of today."""
    names = _VALUES.get(tuple(path), {})
    return names.get(value, value) if isinstance(value, str) else value


def rename_former(tables: dict[str, Any]) -> Iterator[str]:
    """Rename former settings and values in place, and yield notes.

    A setting that stands under both names keeps the value of today's.
    """
    for former, section in _SECTIONS.items():
        values = tables.get(former)
        if not isinstance(values, dict):
            continue
        del tables[former]
        wanted = tables.setdefault(section, {})
        if isinstance(wanted, dict):
            for key, value in values.items():
                wanted.setdefault(current_path((former, key))[-1], value)
        changed = ", ".join(
            f"{name.partition('.')[2]} is {now.partition('.')[2]}"
            for name, now in _SETTINGS.items()
            if name.partition(".")[2] in values
        )
        yield f"[{former}] is now [{section}]{f'; in it {changed} now' if changed else ''}."
    for section, key in _VALUES:
        values = tables.get(section)
        if not isinstance(values, dict) or key not in values:
            continue
        former = values[key]
        values[key] = current_value((section, key), former)
        if values[key] != former:
            yield f'{section}.{key} = "{former}" is now "{values[key]}".'
