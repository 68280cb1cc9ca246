"""What the tests of the code's form ask of its modules: each module is parsed once for all of them.

The syntax trees themselves are not kept: the garbage collector would walk them all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("aitp_desk", "capabilities")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source(NamedTuple):
    """One module.

    Parameters:
        path: from the root of the project.
        docstring: its own, or None.
        texts: docstrings and other string constants of several words, each with its line.
        first_sentences: of each docstring, up to its first full stop, colon or semicolon.
        imports: the modules that it imports, without relative ones.
        values: the names of parameters, of attributes of ``self`` and of fields.
        constructors: how many parameters each class's has, by the class.
    """

    path: Path
    docstring: str | None
    texts: Sequence[tuple[int, str]]
    first_sentences: Sequence[tuple[int, str]]
    imports: Sequence[str]
    values: Sequence[str]
    constructors: Sequence[tuple[str, int]]


@cache
def sources() -> Sequence[Source]:
    """Return every module of the packages."""
    folders = [ROOT / package for package in PACKAGES]
    return [_read(path) for folder in folders for path in sorted(folder.rglob("*.py"))]


def _read(path: Path) -> Source:
    tree = ast.parse(path.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    return Source(
        path.relative_to(ROOT),
        ast.get_docstring(tree),
        [
            (node.lineno, node.value)
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        ],
        list(_first_sentences(nodes)),
        list(_imports(nodes)),
        list(_values(nodes)),
        list(_constructors(nodes)),
    )


def _first_sentences(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, re.split(r"[.;:](?:\s|$)|\n\n", docstring, maxsplit=1)[0]


def _imports(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _values(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.arg():
                yield node.arg
            case ast.Attribute(value=ast.Name("self"), ctx=ast.Store()):
                yield node.attr
            case ast.ClassDef():
                for one in node.body:
                    if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                        yield one.target.id
            case _:
                pass


def _constructors(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                    yield node.name, _count_parameters(one)


def _count_parameters(constructor: ast.FunctionDef) -> int:
    """Count the parameters without ``self``; each ``*args`` or ``**kwargs`` counts as one."""
    of = constructor.args
    variadic = [one for one in (of.vararg, of.kwarg) if one is not None]
    return len([*of.posonlyargs, *of.args, *of.kwonlyargs, *variadic]) - 1
