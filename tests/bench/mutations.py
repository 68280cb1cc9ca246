"""Mutates random lines of the package and runs the tests of each: which mutations survive?

``python -m tests.bench.mutations --count 40 --seed 1`` copies the project to a temporary folder,
changes one operator, constant, condition or returned value at a time, and runs the test files that
import the changed module, and those of its folder's mirror in ``tests/unit``. It prints a line a
mutation and a summary. A survivor is a line that no such test holds; a journey may hold it.

With ``--coverage FILE``, only tests that enter the changed line run: the tests that enter fewest
lines first, at most ``--tests`` of them. The file is written by pytest with the plugin pytest-cov,
which the project does not depend on::

    pytest -m "not servers" -n 2 --cov aitp_desk --cov capabilities --cov-context test --cov-report=

With ``--results FILE``, what is printed is added to the file, and mutations that it has are not run
again: a run that was ended goes on.

For a line that is entered only while its module is imported (a constant, a field, a default), the
tests that enter lines with its name run. A mutation that no test enters is printed as "uncovered".
Tests that fail without a mutation, too, are printed last: leave them out with ``--without``.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("aitp_desk", "capabilities")
SECONDS = 300
"""A run that takes longer has hung: the mutation is killed."""
MAX_MEMORY = 8 << 30
"""A run that takes more bytes of address space fails: the mutation is killed."""
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
    """A change of one expression, as positions in the UTF-8 source.

    `statement` is the lines of the statement around it (of its head, where it has a body), `names`
    what the statement defines, `runs_at_import` whether it stands in no function.
    """

    path: Path
    line: int
    statement: range
    names: tuple[str, ...]
    runs_at_import: bool
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
    statements = list(_list_statements(tree))
    in_functions = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    }
    skipped = {id(node) for outer in ast.walk(tree) for node in _list_untested(outer)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or id(node) in skipped:
            continue
        if (new := _mutate(node)) is not None and node.end_lineno is not None:
            start = offsets[node.lineno - 1] + node.col_offset
            end = offsets[node.end_lineno - 1] + (node.end_col_offset or 0)
            lines, names = min(
                (found for found in statements if node.lineno in found[0]),
                key=lambda found: len(found[0]),
            )
            at_import = node.lineno not in in_functions
            yield Mutation(path, node.lineno, lines, names, at_import, start, end, f"({new})")


def _list_statements(tree: ast.AST) -> Iterator[tuple[range, tuple[str, ...]]]:
    """Yield the lines of each statement, and the names that it defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            inner: list[ast.stmt] = getattr(node, "body", [])
            first = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
            last = inner[0].lineno - 1 if inner else getattr(node, "end_lineno", None) or first
            targets: list[ast.expr | None] = getattr(
                node, "targets", [getattr(node, "target", None)]
            )
            names = [one.id for one in targets if isinstance(one, ast.Name)]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.append(node.name)
            yield range(first, max(first, last) + 1), tuple(names)


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


class Coverage:
    """Which tests enter which lines, read from the data file of the package coverage."""

    def __init__(self, file: Path, project: Path, without: Sequence[str]) -> None:
        self._project = project
        self._tests: dict[tuple[Path, int], set[str]] = {}
        self._sizes: Counter[str] = Counter()
        database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        # "tests/…::test|run" in the process of a test, "tests/…::test (call)" in one that it starts
        ids = {
            one: re.sub(r"(\|(run|setup|teardown)| \((call|setup|teardown)\))$", "", context)
            for one, context in database.execute("SELECT id, context FROM context")
        }
        paths = {one: Path(path) for one, path in database.execute("SELECT id, path FROM file")}
        rows = database.execute("SELECT file_id, context_id, numbits FROM line_bits")
        for file_id, context_id, bits in rows:
            test = ids[context_id]
            if not test or test.startswith(tuple(without)):
                continue
            for line in _read_bits(bits):
                self._tests.setdefault((paths[file_id], line), set()).add(test)
                self._sizes[test] += 1
        database.close()

    def list_tests(self, mutation: Mutation) -> list[str]:
        """Return the tests that enter a mutation, or else those that enter lines with its names."""
        for lines in [mutation.line], mutation.statement:
            # the first test of all that imports a module enters its statements, and holds none
            if mutation.runs_at_import:
                break
            if tests := set().union(*(self._find(mutation.path, line) for line in lines)):
                return self._sort(tests)
        word = re.compile(rf"\b({'|'.join(mutation.names)})\b")
        users = [
            self._sort(self._find(path, number))
            for package in PACKAGES
            for path in sorted((self._project / package).rglob("*.py"))
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if mutation.names and word.search(line)
        ]
        # the first test of each user, the second of each, …
        in_turn = (test for tests in zip_longest(*users) for test in tests if test)
        return list(dict.fromkeys(in_turn))

    def _find(self, path: Path, line: int) -> set[str]:
        return self._tests.get((path, line), set())

    def _sort(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self._sizes[test], test))


def _read_bits(bits: bytes) -> Iterator[int]:
    for index, byte in enumerate(bits):
        yield from (index * 8 + bit for bit in range(8) if byte >> bit & 1)


def list_test_files(path: Path, project: Path) -> list[str]:
    """Return the test files that import a module, and those of its mirror folder."""
    relative = path.relative_to(project)
    parts = relative.with_suffix("").parts
    dotted = ".".join(parts[1:] if parts[0] == "capabilities" else parts).removesuffix(".__init__")
    found = set()
    for test in sorted((project / "tests").rglob("test_*.py")):
        if test.parts[len(project.parts) + 1] in {"bench", "architecture", "docs", "money"}:
            continue
        text = test.read_text(encoding="utf-8")
        if f"{dotted} import" in text or f"import {dotted}" in text:
            found.add(test)
    if parts[0] == "aitp_desk":
        mirror = project / "tests" / "unit" / Path(*parts[1:-1])
        found |= set(mirror.glob("test_*.py"))
    elif (mirror := project / "tests" / "capabilities" / parts[1].removeprefix("aitp_")).is_dir():
        found |= set(mirror.glob("test_*.py")) | set((mirror / parts[2]).glob("test_*.py"))
    return sorted(str(test.relative_to(project)) for test in found)


def run_tests(copy: Path, tests: Sequence[str], *options: str) -> tuple[bool, list[str]]:
    """Return whether all tests passed, and which failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not servers", *options]
    command += ["-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{copy / 'capabilities'}"}
    with subprocess.Popen(
        command,
        cwd=copy,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False, []
    # a case whose name another run made
    missing = re.findall(rf"^ERROR: not found: {re.escape(str(copy))}/(.*)$", output, re.MULTILINE)
    if (left := [test for test in tests if test not in missing]) and len(left) < len(tests):
        return run_tests(copy, left, *options)
    told = re.findall(r"^(?:FAILED|ERROR) (tests/.*)$", output, re.MULTILINE)
    failed = [test for test in tests if any(f"{one} ".startswith(f"{test} ") for one in told)]
    # 5: no test was selected
    return process.returncode in {0, 5}, failed


def _read_results(file: Path | None) -> dict[str, tuple[str, str]]:
    """Return the state and the note of each mutation of an earlier run."""
    if file is None or not file.exists():
        return {}
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines())
    return {f"{where}\t{change}": (state, note) for state, where, change, note in rows}


def main() -> None:
    """Run the mutations and print what survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--below", default="", help="only modules whose path begins so")
    parser.add_argument("--project", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--coverage", type=Path, help="data file with the tests of each line")
    parser.add_argument("--tests", type=int, default=40, help="how many at most, with --coverage")
    parser.add_argument(
        "--results", type=Path, help="file of results; those in it are not made again"
    )
    parser.add_argument("--without", action="append", default=[], help="tests that begin so")
    options = parser.parse_args()
    project: Path = options.project.resolve()
    coverage = options.coverage and Coverage(options.coverage, project, options.without)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    modules = [
        path
        for package in PACKAGES
        for path in sorted((project / package).rglob("*.py"))
        if str(path.relative_to(project)).startswith(options.below)
    ]
    lines = {(one.path, one.line): one for path in modules for one in find_mutations(path)}
    chosen = random.Random(options.seed).sample(
        [one for _, one in sorted(lines.items())], min(options.count, len(lines))
    )
    results: Path | None = options.results
    known = _read_results(results)
    counts = Counter(state for state, _ in known.values())
    killers = {note for _, note in known.values() if note.startswith("tests/")}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        left = shutil.ignore_patterns(".git", ".venv", "*_cache")
        shutil.copytree(project, copy, ignore=left)
        for mutation in chosen:
            where = mutation.path.relative_to(project)
            source = mutation.path.read_bytes()
            old = source[mutation.start : mutation.end].decode()
            subject = f"{where}:{mutation.line}\t{old!r} -> {mutation.new!r}"
            if subject in known:
                continue
            if coverage is None:
                tests = list_test_files(mutation.path, project)
            else:
                tests = coverage.list_tests(mutation)[: options.tests]
            state = "uncovered"
            failed: list[str] = []
            if tests:
                (copy / where).write_bytes(mutation.apply(source))
                survived, failed = run_tests(copy, tests, "-x")
                (copy / where).write_bytes(source)
                state = "survived" if survived else "killed"
            killers.update(failed)
            counts[state] += 1
            note = failed[0] if failed else f"{len(tests)} tests"
            print(f"{state}\t{subject}\t{note}", flush=True)
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(f"{state}\t{subject}\t{note}\n")
        if killers:
            for test in run_tests(copy, sorted(killers))[1]:
                print(f"fails without a mutation, too\t{test}")
    print(", ".join(f"{counts[state]} {state}" for state in ("killed", "survived", "uncovered")))


if __name__ == "__main__":
    main()
