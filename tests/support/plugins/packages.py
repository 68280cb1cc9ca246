"""Capabilities and transports of strangers, installed as packages are: modules and entry points."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType

from tests.docs.snippets import PAGES, blocks

NONE: Mapping[str, str] = MappingProxyType({})


def loyalty() -> str:
    """The loyalty card of docs/build/capabilities.md, as the page has it."""
    return module_on_the_page("loyalty")


@cache
def module_on_the_page(name: str) -> str:
    """A module of the documentation: its first line names the file."""
    found = (block.code for page in PAGES for block in blocks(page))
    (code,) = (code for code in found if code.startswith(f'"""{name}.py'))
    return code


@contextmanager
def installed(
    folder: Path,
    modules: Mapping[str, str],
    points: Mapping[str, str],
    commands: Mapping[str, str] = NONE,
    transports: Mapping[str, str] = NONE,
) -> Iterator[None]:
    """Have packages installed for as long as the context lasts.

    Parameters:
        folder: an empty one.
        modules: source code by the names of modules.
        points: what the entry points name, by their own names.
        commands: the same of commands.
        transports: the same of transports.
    """
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    groups = {
        "aitp_desk.capabilities": points,
        "aitp_desk.commands": commands,
        "aitp_desk.transports": transports,
    }
    listed = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        for group, named in groups.items()
    )
    (info / "entry_points.txt").write_text(listed)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in modules:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
