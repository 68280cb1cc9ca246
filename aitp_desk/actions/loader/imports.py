"""Imports the site's code without writing to its folder or extending the search path.

The site's folder becomes a package under a unique name: files next to ``actions.py`` are imported
as ``from . import stock`` or ``from .stock import Item``.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from aitp_desk.actions.declaration.base import Declared, noted
from aitp_desk.actions.faults import DeclarationFaults
from aitp_desk.actions.loader.modules import is_in_folder

_MOST_TOLD = 300
_PACKAGE = re.compile(r"\bsite_of_desk_\d+\.?")

Declaration = Declared[..., Any]


def import_declarations(folder: Path, module: str, faults: DeclarationFaults) -> list[Declaration]:
    """Import a module and return its declarations, in order.

    Parameters:
        folder: the site's.
        module: its name, dotted inside a package: next to ``desk.toml``, or installed.
        faults: receives the reason if it cannot be imported; the declarations until then are
            returned.
    """
    found: list[Declaration] = []
    noting = noted.set(found)
    try:
        imported = _import(folder, module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- every failure is reported
        faults.add_fault_at(*_explain(error, folder, module, faults))
        return found
    finally:
        noted.reset(noting)
    # a module that was already imported has noted nothing now
    for one in vars(imported).values():
        if isinstance(one, Declared) and one not in found:
            found.append(one)
    return found


def _import(folder: Path, module: str) -> ModuleType:
    if not is_in_folder(folder, module):
        return import_module(module)
    with _package_of(folder) as package:
        return import_module(f"{package}.{module}")


@contextmanager
def _package_of(folder: Path) -> Iterator[str]:
    """Make a package of the files of a folder; it is removed again after a failure."""
    name = next(name for name in (f"site_of_desk_{n}" for n in count(1)) if name not in sys.modules)
    package = ModuleType(name, "The files of a site.")
    package.__path__ = [str(folder)]
    finder = _SourceFinder(name)
    sys.modules[name] = package
    sys.meta_path.insert(0, finder)
    try:
        yield name
    except BaseException:
        sys.meta_path.remove(finder)
        for below in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
            del sys.modules[below]
        raise


class _SourceFinder(MetaPathFinder):
    """Finds the modules of a package without writing bytecode."""

    def __init__(self, package: str) -> None:
        self._below = f"{package}."

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(self._below):
            return None
        for folder in path or ():
            finder = FileFinder(folder, (_SourceLoader, SOURCE_SUFFIXES))
            if (spec := finder.find_spec(fullname, target)) is not None:
                return spec
        return None


class _SourceLoader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _explain(
    error: BaseException, folder: Path, module: str, faults: DeclarationFaults
) -> tuple[str, str]:
    """Return where an import failed, and why."""
    if isinstance(error, SyntaxError) and error.filename:
        return faults.place(error.filename, error.lineno), f"is not valid Python: {error.msg}."
    within = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(folder)
    ]
    place = faults.place(within[-1].filename, within[-1].lineno) if within else "site.actions"
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = error.name.rpartition(".")[2]
        if not within:
            return place, (
                f"there is no module {module!r}; name one next to desk.toml, or an installed one."
            )
        if "." not in error.name and is_in_folder(folder, missing):
            return (
                place,
                f"imports {missing!r} as if it were installed; write from . import {missing}.",
            )
        if _PACKAGE.match(error.name):
            return place, f"imports {missing!r}, which is not next to it."
        return place, f"imports {error.name!r}, which is not installed."
    said = " ".join(_PACKAGE.sub("", str(error)).split())[:_MOST_TOLD]
    return place, f"raised {type(error).__name__}{f': {said}' if said else ''}."
