"""Where a site's own code is found, how it is imported, and what is said where it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.faults import ActionsError
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import Config, Site, SiteAgent
from tests.support.desk.command import run_here
from tests.support.sites.declarations import site

ONE = '''
from aitp_desk.actions import action
{imports}
@action
def one() -> int:
    """One."""
    return {value}
'''


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def one(imports: str = "", value: str = "1") -> str:
    return ONE.format(imports=imports, value=value)


def named(folder: Path, module: str) -> Config:
    return Config(folder=folder, data=folder / ".desk", site=Site(actions=module))


async def value_of(config: Config) -> object:
    """What the one action of a site gives."""
    (only,) = load_actions(config).offered
    return (await only.perform(only.read({}), Context("call_1", Caller()))).result


def problem(config: Config) -> str:
    with pytest.raises(ActionsError) as refused:
        load_actions(config)
    (only,) = refused.value.problems
    return str(only)


async def test_neighbouring_files_are_imported_from_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "actions.py", one("from .stock import COUNT\nfrom . import more", "COUNT"))
    write(tmp_path / "stock.py", "from .more import COUNT")
    write(tmp_path / "more.py", "COUNT = 5")
    assert await value_of(site(tmp_path)) == 5


async def test_a_package_and_a_module_in_it_may_be_named(tmp_path: Path) -> None:
    write(tmp_path / "shop" / "__init__.py", "from .orders import one")
    write(tmp_path / "shop" / "orders.py", one("from .stock import COUNT", "COUNT"))
    write(tmp_path / "shop" / "stock.py", "COUNT = 7")
    assert await value_of(named(tmp_path, "shop")) == 7
    assert await value_of(named(tmp_path, "shop.orders")) == 7


async def test_what_a_module_of_the_package_declares_need_not_be_imported_by_name(
    tmp_path: Path,
) -> None:
    write(tmp_path / "shop" / "__init__.py", "from . import orders")
    write(tmp_path / "shop" / "orders.py", one())
    assert await value_of(named(tmp_path, "shop")) == 1


async def test_a_module_that_is_installed_may_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "installed" / "shop_of_desk_tests.py", one())
    monkeypatch.syspath_prepend(tmp_path / "installed")
    config = named(tmp_path, "shop_of_desk_tests")
    assert await value_of(config) == 1
    assert await value_of(config) == 1  # although nothing is run by the second import


async def test_two_sites_have_modules_of_the_same_name(tmp_path: Path) -> None:
    for value in ("1", "2"):
        write(tmp_path / value / "actions.py", one("from .stock import COUNT", "COUNT"))
        write(tmp_path / value / "stock.py", f"COUNT = {value}")
    assert [await value_of(site(tmp_path / value)) for value in ("1", "2")] == [1, 2]


async def test_a_second_agent_has_its_actions_or_none(tmp_path: Path) -> None:
    write(tmp_path / "actions.py", one())
    write(tmp_path / "books.py", one(value="2"))
    config = site(tmp_path)
    assert await value_of(config.of_agent(SiteAgent(name="books", actions="books"))) == 2
    assert load_actions(config.of_agent(SiteAgent(name="games"))).offered == ()


def test_a_folder_that_does_not_say_it_is_a_site_has_no_code(tmp_path: Path) -> None:
    write(tmp_path / "actions.py", "1 / 0")
    assert load_actions(Config(folder=tmp_path, data=tmp_path / ".desk")).offered == ()
    assert problem(site(tmp_path)).startswith("actions.py:1: raised ZeroDivisionError")


def test_actions_can_be_switched_off(tmp_path: Path) -> None:
    write(tmp_path / "actions.py", "1 / 0")
    (tmp_path / "desk.toml").touch()
    assert load_actions(named(tmp_path, "")).offered == ()


def test_nothing_is_left_in_the_folder_nor_on_the_path(tmp_path: Path) -> None:
    write(tmp_path / "actions.py", one("from . import stock"))
    write(tmp_path / "stock" / "__init__.py", "from . import deep")
    write(tmp_path / "stock" / "deep.py", "")
    before = list(sys.path)
    load_actions(site(tmp_path))
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "__init__.py",
        "actions.py",
        "deep.py",
        "desk.toml",
        "stock",
    ]
    assert sys.path == before


def test_of_an_import_that_fails_nothing_stays(tmp_path: Path) -> None:
    write(tmp_path / "actions.py", "from . import stock\n1 / 0")
    write(tmp_path / "stock.py", "")
    modules, finders = set(sys.modules), list(sys.meta_path)
    problem(site(tmp_path))
    assert set(sys.modules) == modules
    assert sys.meta_path == finders


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n1 / 0", "actions.py:2: raised ZeroDivisionError: division by zero."),
        ("x = 1\ndef f(:\n    pass", "actions.py:2: is not valid Python: invalid syntax."),
        ("x = 1\n\nimport no_such", "actions.py:3: imports 'no_such', which is not installed."),
        (
            "import aitp_desk.action",
            "actions.py:1: imports 'aitp_desk.action', which is not installed.",
        ),
        (
            "import stock",
            "actions.py:1: imports 'stock' as if it were installed; write from . import stock.",
        ),
        ("from . import boot", "actions.py:1: raised ImportError: cannot import name 'boot' from"),
        ("from .boot import x", "actions.py:1: imports 'boot', which is not next to it."),
        ("raise SystemExit(3)", "actions.py:1: raised SystemExit: 3."),
        ("from .stock import fail\nfail()", "stock.py:2: raised KeyError: 'SHOP_URL'."),
        ("x = '\\ud800'.encode()", "actions.py:1: raised UnicodeEncodeError:"),
    ],
)
def test_a_failed_import_is_reported_with_its_place(
    text: str, expected: str, tmp_path: Path
) -> None:
    write(tmp_path / "actions.py", text)
    write(tmp_path / "stock.py", "def fail():\n    raise KeyError('SHOP_URL')")
    assert problem(site(tmp_path)).startswith(expected)
    assert "site_of_desk" not in problem(site(tmp_path))


@pytest.mark.parametrize("module", ["shop", "shop.orders", "json.no_such"])
def test_a_module_that_is_named_must_be_there(module: str, tmp_path: Path) -> None:
    assert problem(named(tmp_path, module)) == (
        f"site.actions: there is no module {module!r}; name one next to desk.toml, or an"
        f" installed one."
    )


def test_check_tells_of_the_actions_too(tmp_path: Path) -> None:
    write(tmp_path / "content" / "page.md", "# Page\n\nText.\n")
    write(tmp_path / "books" / "page.md", "# Page\n\nText.\n")
    settings = '[content]\nfolder = "content"\n'
    agent = '[[agents]]\nname = "books"\nactions = "shop"\n[agents.content]\nfolder = "books"\n'
    write(tmp_path / "desk.toml", settings)
    write(tmp_path / "actions.py", one())
    assert run_here("check", tmp_path).out == f"{tmp_path} is ready to serve: 1 page, 1 action.\n"
    write(tmp_path / "desk.toml", settings + agent)
    write(tmp_path / "actions.py", one().replace("one", "contact").replace(" -> int", ""))
    write(tmp_path / "shop.py", one().replace('"""One."""', ""))
    assert run_here("check", tmp_path).err.splitlines() == [
        "actions.py:4, contact: has the name of one of the desk's own actions; rename it.",
        "actions.py:4, contact: has no return type; write -> and the type, or -> None.",
        (
            "agents, 'books': shop.py:4, one: has no docstring; write a line for callers that"
            " says what it does."
        ),
    ]
    write(tmp_path / "desk.toml", f'{settings}[site]\nactions = "../shop"\n')
    assert "site.actions: is " in run_here("check", tmp_path).err


def test_what_helps_may_be_an_action_of_another_source(tmp_path: Path) -> None:
    checked = """
@one.requires("is_open", "It is open.", recovery="Have it sent.", actions=["send"])
def is_open() -> str | None:
    return None
"""
    write(tmp_path / "actions.py", one() + checked)
    (offered,) = load_actions(site(tmp_path), is_elsewhere={"send"}.__contains__).offered
    assert offered.action.preconditions[0].name == "is_open"
    with pytest.raises(ActionsError, match="recommends 'send' if 'is_open' is not met"):
        load_actions(site(tmp_path))
