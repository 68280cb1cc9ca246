"""The pages of the console: small modules that take no words for markup and load nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from aitp_desk.web.widget.assets import COMPONENT

PAGES = Path(__file__).resolve().parents[2] / "aitp_desk" / "web" / "console" / "pages"
FILES = sorted(PAGES.rglob("*.*"))
SHARED = {PAGES / "markdown" / file.name: file for file in (COMPONENT / "markdown").glob("*.js")}
"""The chat's modules that the console serves as well, by where they are then."""
LONGEST = 300
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|\beval\(|\bFunction\("
)
IMPORT = re.compile(r'^(?:import|export) .*?from "([^"]+)";$', re.MULTILINE | re.DOTALL)
NAMES = re.compile(r'^import \{([^}]*)\} from "([^"]+)";$', re.MULTILINE)
EXPORT = re.compile(
    r"^export (?:async )?(?:function\*?|const|let|class) (\w+)|^export \{([^}]*)\}", re.MULTILINE
)
LOADED = re.compile(r'(?:href|src)="([^"]+)"')


def test_a_file_is_short() -> None:
    lengths = {file.name: len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_nobodys_words_become_markup() -> None:
    scripts = {file.name: file.read_text("utf-8") for file in FILES if file.suffix == ".js"}
    assert "dom.js" in scripts
    assert [name for name, text in scripts.items() if MARKUP.search(text)] == []


def test_what_is_loaded_is_there_and_all_that_is_there_is_loaded() -> None:
    page = (PAGES / "index.html").read_text("utf-8")
    wanted = {name for name in LOADED.findall(page) if not name.startswith("data:")}
    assert all(name.startswith("/console/assets/") for name in wanted)
    found, new = set[Path](), {PAGES / name.removeprefix("/console/assets/") for name in wanted}
    while new:
        found |= new
        scripts = [path for path in new if path.suffix == ".js"]
        named = {
            (path, name)
            for path in scripts
            for name in IMPORT.findall(SHARED.get(path, path).read_text("utf-8"))
        }
        assert all(name.startswith(("./", "../")) for _, name in named)
        new = {(path.parent / name).resolve() for path, name in named} - found
    assert found == {*FILES, *SHARED} - {PAGES / "index.html"}


def test_a_module_exports_a_name_once() -> None:
    twice = []
    for path in (*FILES, *SHARED):
        found = EXPORT.findall(SHARED.get(path, path).read_text("utf-8"))
        names = [name.strip() for one in found for name in ",".join(one).split(",") if name.strip()]
        twice += [f"{path.name}: {name}" for name in {*names} if names.count(name) > 1]
    assert twice == []


def test_a_name_that_is_imported_is_exported() -> None:
    texts = {path: SHARED.get(path, path).read_text("utf-8") for path in (*FILES, *SHARED)}
    exported = {
        path: {
            name.strip() for found in EXPORT.findall(text) for name in ",".join(found).split(",")
        }
        for path, text in texts.items()
    }
    imported = {
        (path, (path.parent / module).resolve(), name.strip().partition(" ")[0])
        for path, text in texts.items()
        for names, module in NAMES.findall(text)
        for name in names.split(",")
        if name.strip()
    }
    assert imported
    assert [one for one in imported if one[2] not in exported[one[1]]] == []
