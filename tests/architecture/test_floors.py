"""The house keeps its floors: contracts in pyproject.toml, held by import-linter."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def contracts() -> list[dict[str, object]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, object]] = project["tool"]["importlinter"]["contracts"]
    return found


def test_every_import_keeps_to_the_floors() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


EXCEPTIONS = {"core": {"ignore_imports": ["aitp_desk.protocols.hac.middleware -> aiohttp"]}}
"""HAC for other people's aiohttp applications: the desk never imports it."""


@pytest.mark.parametrize("contract", contracts(), ids=lambda contract: str(contract["id"]))
def test_no_contract_has_an_exception_but_the_one(contract: dict[str, object]) -> None:
    assert {
        key: value
        for key, value in contract.items()
        if key.startswith(("ignore_", "exhaustive_ignores", "unmatched_"))
    } == EXCEPTIONS.get(str(contract["id"]), {})


def test_every_door_is_named_in_the_contract_of_the_doors() -> None:
    (doors,) = (contract for contract in contracts() if contract["id"] == "doors")
    folders = {
        f"aitp_desk.protocols.{folder.name}"
        for folder in (ROOT / "aitp_desk" / "protocols").iterdir()
        if (folder / "__init__.py").is_file()
    }
    assert doors["modules"] == sorted(folders)
