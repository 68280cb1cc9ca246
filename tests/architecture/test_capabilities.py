"""The capabilities that come with the desk use the interface that external packages use."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "capabilities").glob("*/__init__.py"))
MODULES = sorted((ROOT / "capabilities").rglob("*.py"))
EXTRAS = {"aitp_data": {"joserfc"}, "aitp_payments": {"stripe"}, "aitp_sign": {"coincurve"}}
"""Packages that a capability does without where they are not installed."""
LARGEST = 400
DOOR = "aitp_desk.capability"
COMMANDS = "capabilities/aitp_payments/ledger/commands/"
"""Where commands of a capability's are."""
FOR_COMMANDS = {"aitp_desk.cli.extension", "click"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_a_capability_imports_its_own_the_interface_and_what_the_desk_always_has() -> None:
    wrong = {
        (name(path), module)
        for path in MODULES
        for own in path.relative_to(ROOT / "capabilities").parts[:1]
        for module in imported(path)
        if module != DOOR
        and not (module in FOR_COMMANDS and name(path).startswith(COMMANDS))
        and module.split(".")[0] not in {own, "cryptography", "msgspec"} | EXTRAS.get(own, set())
        and module.split(".")[0] not in sys.stdlib_module_names
    }
    assert wrong == set()


def modules_below(path: Path) -> Iterator[str]:
    """The modules of a capability that one of its modules imports from, for its types too."""
    root = ROOT / "capabilities"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            within = root.joinpath(*node.module.split("."))
            if within.with_suffix(".py").is_file():
                yield node.module
            elif within.is_dir():
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_no_two_modules_of_a_capability_import_each_other(folder: Path) -> None:
    graph = {
        ".".join(path.relative_to(ROOT / "capabilities").with_suffix("").parts): modules_below(path)
        for path in sorted(folder.rglob("*.py"))
    }
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


def test_a_capabilitys_text_is_small_and_says_what_it_is_for() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= LARGEST, name(path)
        assert ast.get_docstring(ast.parse(text)), name(path)


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_every_capability_is_installed_named_described_and_served(folder: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    points = project["project"]["entry-points"]["aitp_desk.capabilities"].values()
    assert folder.name in {point.split(":")[0] for point in points}
    assert name(folder) in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert (folder / "README.md").is_file()
    assert (folder / "schemas" / "v1.json").is_file()
