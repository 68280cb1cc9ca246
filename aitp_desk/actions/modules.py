"""Where the site's own code stands."""

from __future__ import annotations

from pathlib import Path

OPTIONAL = "actions"
"""The module whose absence is no fault."""


def is_beside(folder: Path, module: str) -> bool:
    """Whether a module, or the package that it is in, stands in a folder."""
    path = folder / module.partition(".")[0]
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def is_wanted(folder: Path, module: str) -> bool:
    """Whether a site has a module of this name, or should have."""
    return bool(module) and (module != OPTIONAL or is_beside(folder, module))
