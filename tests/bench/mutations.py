"""Mutates random lines of the package and runs the tests of each: which mutations survive?

``python -m tests.bench.mutations --count 40 --seed 1`` copies the project to a temporary folder,
changes one operator, constant, condition or returned value at a time, and runs the test files that
import the changed module, and those of its folder's mirror in ``tests/unit``. It prints a line a
mutation and a summary. A survivor is a line that no such test holds; a journey may hold it.
"""

from __future__ import annotations

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
PACKAGES = ("aitp_desk", "capabilities")
SECONDS = 300
"""A run that takes longer has hung: the mutation is killed."""
SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutation(NamedTuple):
    """A change of one expression, as positions in the UTF-8 source."""

    path: Path
    line: int
    start: int
    end: int
    new: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def find_mutations(path: Path) -> Iterator[Mutation]:
    """Yield the mutations of a module: at most one an expression."""
    source = path.read_bytes()
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    tree = ast.parse(source)
    skipped = {id(node) for outer in ast.walk(tree) for node in _list_untested(outer)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or id(node) in skipped:
            continue
        if (new := _mutate(node)) is not None and node.end_lineno is not None:
            start = offsets[node.lineno - 1] + node.col_offset
            end = offsets[node.end_lineno - 1] + (node.end_col_offset or 0)
            yield Mutation(path, node.lineno, start, end, f"({new})")


def _list_untested(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs no behaviour: annotations, docstrings, type aliases, decorators."""
    outer: list[ast.AST | None] = []
    if isinstance(node, ast.AnnAssign | ast.arg):
        outer.append(node.annotation)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        outer += [node.returns, *node.decorator_list]
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
        outer += [node.test] if node.test.id == "TYPE_CHECKING" else []
    if isinstance(node, ast.JoinedStr):
        outer.append(node)
    for found in outer:
        if found is not None:
            yield from ast.walk(found)


def _mutate(node: ast.expr) -> str | None:
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            return ast.unparse(ast.Compare(node.left, [SWAPPED[type(op)]()], node.comparators))
        case ast.BoolOp():
            other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
            return ast.unparse(ast.BoolOp(other, node.values))
        case ast.UnaryOp(op=ast.Not()):
            return ast.unparse(node.operand)
        case ast.BinOp(op=ast.Add()):
            return ast.unparse(ast.BinOp(node.left, ast.Sub(), node.right))
        case ast.BinOp(op=ast.Sub()):
            return ast.unparse(ast.BinOp(node.left, ast.Add(), node.right))
        case ast.Constant(value=bool() as value):
            return str(not value)
        case ast.Constant(value=int() as value):
            return str(value + 1)
        case ast.IfExp():
            return ast.unparse(ast.IfExp(node.test, node.orelse, node.body))
        case _:
            return None


def list_tests(path: Path) -> list[Path]:
    """Return the test files that import a module, and those of its mirror folder."""
    relative = path.relative_to(PROJECT)
    parts = relative.with_suffix("").parts
    dotted = ".".join(parts[1:] if parts[0] == "capabilities" else parts).removesuffix(".__init__")
    found = set()
    for test in sorted((PROJECT / "tests").rglob("test_*.py")):
        if test.parts[len(PROJECT.parts) + 1] in {"bench", "architecture", "docs", "money"}:
            continue
        text = test.read_text(encoding="utf-8")
        if f"{dotted} import" in text or f"import {dotted}" in text:
            found.add(test)
    if parts[0] == "aitp_desk":
        mirror = PROJECT / "tests" / "unit" / Path(*parts[1:-1])
        found |= set(mirror.glob("test_*.py"))
    elif (mirror := PROJECT / "tests" / "capabilities" / parts[1].removeprefix("aitp_")).is_dir():
        found |= set(mirror.glob("test_*.py")) | set((mirror / parts[2]).glob("test_*.py"))
    return sorted(found)


def run_tests(copy: Path, tests: Sequence[Path]) -> bool:
    """Return whether all tests passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not servers"]
    command += ["-p", "no:cacheprovider", *(str(test.relative_to(PROJECT)) for test in tests)]
    try:
        done = subprocess.run(command, cwd=copy, timeout=SECONDS, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> None:
    """Run the mutations and print what survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--below", default="", help="only modules whose path begins so")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    modules = [
        path
        for package in PACKAGES
        for path in sorted((PROJECT / package).rglob("*.py"))
        if str(path.relative_to(PROJECT)).startswith(options.below)
    ]
    lines = {(one.path, one.line): one for path in modules for one in find_mutations(path)}
    chosen = chance.sample(sorted(lines.values()), min(options.count, len(lines)))
    told = {True: 0, False: 0}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        left = shutil.ignore_patterns(".git", ".venv", "*_cache", "__pycache__")
        shutil.copytree(PROJECT, copy, ignore=left)
        for mutation in chosen:
            where = mutation.path.relative_to(PROJECT)
            source = mutation.path.read_bytes()
            old = source[mutation.start : mutation.end].decode()
            tests = list_tests(mutation.path)
            (copy / where).write_bytes(mutation.apply(source))
            survived = not tests or run_tests(copy, tests)
            (copy / where).write_bytes(source)
            told[survived] += 1
            state = ("survived" if tests else "no tests") if survived else "killed"
            print(f"{state}\t{where}:{mutation.line}\t{old!r} -> {mutation.new!r}", flush=True)
    print(f"{told[False]} killed, {told[True]} survived")


if __name__ == "__main__":
    main()
