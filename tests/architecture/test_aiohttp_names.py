"""Of aiohttp only documented names are used: others change without notice between releases."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import aiohttp
from aiohttp import web

ROOT = Path(__file__).parents[2]
FOLDERS = ("aitp_desk", "capabilities", "examples")

DOCUMENTED: dict[str, frozenset[str] | None] = {
    "aiohttp": frozenset(aiohttp.__all__) | {"abc", "hdrs", "typedefs", "web"},
    "aiohttp.web": frozenset(web.__all__) - {"RequestHandler"},
    "aiohttp.abc": frozenset({"AbstractResolver", "ResolveResult"}),
    "aiohttp.hdrs": None,
    "aiohttp.typedefs": frozenset({"Handler", "Middleware"}),
}
"""The modules that aiohttp's reference describes, and their names; None for all."""
EXTENDED = frozenset({"aiohttp.abc.AbstractResolver"})
"""The classes that are made to be subclassed."""

REMAINING: dict[str, set[str]] = {
    "aitp_desk/egress/client.py": {"aiohttp.ClientResponse is extended", "aiohttp.connector"},
}
"""What is still to be replaced. It only shrinks.

The client reads interim responses (1xx) in a loop of ``ClientResponse.start``, for as long as a
server sends some. No documented option, hook or middleware of it counts them or sees their bytes;
the connector gives no access to what it reads. Without the extension only the time limit of the
whole request would bound them.
"""


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The local names that stand for aiohttp's, and what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "aiohttp":
                    yield alias.asname or "aiohttp", alias.name if alias.asname else "aiohttp"
                    if "." in alias.name and not alias.asname:
                        yield alias.name, alias.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "aiohttp":
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def full_name(node: ast.expr, names: dict[str, str]) -> str | None:
    """What an expression such as ``web.Response`` names in aiohttp."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        base = full_name(node.value, names)
        return None if base is None else f"{base}.{node.attr}"
    return None


def undocumented(name: str) -> str | None:
    """The part of a name that aiohttp's reference does not describe."""
    module, _, rest = name.partition(".")
    while rest:
        part, _, rest = rest.partition(".")
        known = DOCUMENTED[module]
        if part.startswith("_") or (known is not None and part not in known):
            return f"{module}.{part}"
        module = f"{module}.{part}"
        if module not in DOCUMENTED:  # a class or function: its members are public by their names
            return next((name for one in rest.split(".") if one.startswith("_")), None)
    return None


def found_in(text: str) -> set[str]:
    """The undocumented names of aiohttp in a module's text, and the classes that it extends."""
    tree = ast.parse(text)
    names = dict(imported(tree))
    found = {undocumented(name) for name in names.values()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = full_name(node, names)
            found.add(undocumented(name) if name else None)
        elif isinstance(node, ast.ClassDef):
            bases = {full_name(base, names) for base in node.bases} - {None}
            found |= {f"{base} is extended" for base in bases - EXTENDED}
    return {one for one in found if one is not None}


def test_no_undocumented_name_of_aiohttp_is_used() -> None:
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            # without an import of aiohttp nothing stands for a name of its
            if "aiohttp" in text and (names := found_in(text)):
                found[str(path.relative_to(ROOT))] = names
    assert found == REMAINING


def test_each_kind_of_undocumented_name_is_found() -> None:
    for text, name in (
        ("from aiohttp.http_parser import HttpRequestParser", "aiohttp.http_parser"),
        ("from aiohttp.streams import StreamReader", "aiohttp.streams"),
        ("import aiohttp.helpers", "aiohttp.helpers"),
        ("from aiohttp import web\nweb.RequestHandler", "aiohttp.web.RequestHandler"),
        ("from aiohttp import web_protocol", "aiohttp.web_protocol"),
        ("import aiohttp\naiohttp.web_runner.TCPSite", "aiohttp.web_runner"),
        ("import aiohttp\naiohttp._http_parser", "aiohttp._http_parser"),
        (
            "from aiohttp import web\nweb.Response._prepare_headers",
            "aiohttp.web.Response._prepare_headers",
        ),
        ("import aiohttp\nclass A(aiohttp.ClientResponse): ...", "aiohttp.ClientResponse is"),
    ):
        assert any(one.startswith(name) for one in found_in(text)), text
    for text in (
        "from aiohttp import hdrs, web\nweb.Response\nhdrs.ACCEPT",
        "from aiohttp.abc import AbstractResolver\nclass A(AbstractResolver): ...",
        "import aiohttp\naiohttp.ClientSession",
    ):
        assert found_in(text) == set(), text


def test_the_documented_modules_exist() -> None:
    for module, names in DOCUMENTED.items():
        found = import_module(module)
        assert all(hasattr(found, name) for name in names or ()), module
