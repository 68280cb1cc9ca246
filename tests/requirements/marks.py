"""Which test carries which requirement: read from the source of the tests, without running them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Mark(NamedTuple):
    """One id that a test carries, and the `file:line` where it says so."""

    id: str
    place: str


def marks_below(folder: Path) -> list[Mark]:
    """Every id in a `pytest.mark.requirement(...)` of the Python files below `folder`.

    Raises:
        ValueError: a mark holds something else than literal ids, or stands on a function or
            class that pytest does not collect; the message names the file and the line.
    """
    sources = ((path, path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py")))
    return [
        mark
        for path, source in sources
        if "mark.requirement" in source
        for mark in marks_in(source, str(path.relative_to(folder)))
    ]


def marks_in(source: str, name: str) -> Iterator[Mark]:
    """The marks of one file's source; `name` is what places call it. Raises as `marks_below`."""
    tree = ast.parse(source, filename=name)
    for node in ast.walk(tree):
        if isinstance(node, (*_Function, ast.ClassDef)) and not _is_collected(node):
            for decorator in node.decorator_list:
                if any(_is_mark(inner) for inner in ast.walk(decorator)):
                    raise ValueError(f"{name}:{decorator.lineno}: {node.name} is not a test")
        if isinstance(node, ast.Call) and _is_mark(node):
            yield from _ids(node, f"{name}:{node.lineno}")


def _ids(call: ast.Call, place: str) -> Iterator[Mark]:
    if not call.args or call.keywords:
        raise ValueError(f"{place}: a requirement mark holds one id or more, nothing else")
    for argument in call.args:
        match argument:
            case ast.Constant(value=str(found)):
                yield Mark(found, place)
            case _:
                raise ValueError(f"{place}: write the id as a literal: {ast.unparse(argument)}")


def _is_mark(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "requirement"  # to write every call out takes seconds
        and ast.unparse(node.func) in {"pytest.mark.requirement", "mark.requirement"}
    )


def _is_collected(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return node.name.startswith("Test" if isinstance(node, ast.ClassDef) else "test_")
