"""Where the site's own code stands."""

from __future__ import annotations

from pathlib import Path

from aitp_desk.config.settings import DESK_FILE

OPTIONAL = "actions"
"""The module whose absence is no fault."""


def is_in_folder(folder: Path, module: str) -> bool:
    """Whether a module, or the package that it is in, stands in a folder."""
    path = folder / module.partition(".")[0]
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def is_wanted(folder: Path, module: str) -> bool:
    """Whether a site has a module of this name, or should have.

    A folder of pages alone is no place whose code is run: it says that it is a site's by a
    ``desk.toml``.
    """
    if module == OPTIONAL:
        return (folder / DESK_FILE).is_file() and is_in_folder(folder, module)
    return bool(module)
