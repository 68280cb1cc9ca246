"""Modules import from lower layers only: contracts in pyproject.toml, run by import-linter."""

import re
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


def test_every_import_keeps_to_the_layers() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


COMPOSED = ("aitp_desk/app/", "aitp_desk/cli/")
"""Where the parts of a desk are put together, and what commands do with a file."""
ENGINES = "aitp_desk/store/engine/"
ADDRESSES = "aitp_desk/config/rules/servers.py"
"""The rules for addresses, of which each kind of database has its own."""


@pytest.mark.parametrize(
    ("asks", "where"),
    [
        (r"\bfind_engine\(", (*COMPOSED, ENGINES)),
        (r"\basyncpg\b", (ENGINES,)),
        (r"(?:startswith\(|[!=]= |\bin \{)\"(?:sqlite|postgres)", (ADDRESSES,)),
    ],
)
def test_only_what_puts_a_desk_together_knows_its_database(
    asks: str, where: tuple[str, ...]
) -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "aitp_desk").rglob("*.py")
        if re.search(asks, path.read_text(encoding="utf-8"))
    }
    assert found
    assert {path for path in found if not path.startswith(where)} == set()


EXCEPTIONS = {"core": {"ignore_imports": ["aitp_desk.protocols.hac.middleware -> aiohttp"]}}
"""HAC for other people's aiohttp applications: the desk never imports it."""


@pytest.mark.parametrize("contract", contracts(), ids=lambda contract: str(contract["id"]))
def test_no_contract_has_an_exception_but_the_one(contract: dict[str, object]) -> None:
    assert {
        key: value
        for key, value in contract.items()
        if key.startswith(("ignore_", "exhaustive_ignores", "unmatched_"))
    } == EXCEPTIONS.get(str(contract["id"]), {})


def test_every_protocol_is_named_in_the_contract_of_protocols() -> None:
    (protocols,) = (contract for contract in contracts() if contract["id"] == "protocols")
    folders = {
        f"aitp_desk.protocols.{entry.stem}"
        for entry in (ROOT / "aitp_desk" / "protocols").iterdir()
        if not entry.name.startswith("_") and entry.name != "base"
    }
    assert protocols["modules"] == sorted(folders)
