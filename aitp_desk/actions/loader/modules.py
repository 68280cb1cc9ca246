"""Finds the site's own code."""

from __future__ import annotations

from pathlib import Path

from aitp_desk.config.settings import DESK_FILE

OPTIONAL = "actions"
"""The module that may be absent."""


def is_in_folder(folder: Path, module: str) -> bool:
    """Return whether a module, or the package that contains it, is in a folder."""
    path = folder / module.partition(".")[0]
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def is_wanted(folder: Path, module: str) -> bool:
    """Return whether a site has a module of this name, or should have.

    Code is not run from a folder of pages alone: only a ``desk.toml`` makes it a site's.
    """
    if module == OPTIONAL:
        return (folder / DESK_FILE).is_file() and is_in_folder(folder, module)
    return bool(module)
