"""A constructor takes at most eight parameters: docs/contribute/contributing.md, "Names"."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_PARAMETERS = 8
COMPOSITION_ROOT = ROOT / "aitp_desk/app"


def count_parameters(constructor: ast.FunctionDef) -> int:
    """Count the parameters without ``self``; each ``*args`` or ``**kwargs`` counts as one."""
    of = constructor.args
    variadic = [one for one in (of.vararg, of.kwarg) if one is not None]
    return len([*of.posonlyargs, *of.args, *of.kwonlyargs, *variadic]) - 1


def test_no_constructor_takes_more_parameters_than_one_keeps_in_mind() -> None:
    crowded = {}
    for path in sorted((ROOT / "aitp_desk").rglob("*.py")):
        if COMPOSITION_ROOT in path.parents:
            continue
        for found in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(found, ast.ClassDef):
                continue
            for one in found.body:
                if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                    name, count = f"{path.relative_to(ROOT)}:{found.name}", count_parameters(one)
                    if count > MAX_PARAMETERS:
                        crowded[name] = count
    assert crowded == {}
