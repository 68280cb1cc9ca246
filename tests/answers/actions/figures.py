"""Measures how well words reach actions, and writes the figures into the documentation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from tests.answers.actions.table import GROUPS, SITES, Utterance, open_desk, read_utterances

PAGE = Path(__file__).parents[3] / "docs/contribute/answers.md"
BEGIN = "<!-- utterances: written by `python -m tests.answers.actions --write` -->"
END = "<!-- end of utterances -->"
_HEAD = (
    "| | Utterances | Right action | Nothing called on a question | Right arguments |\n"
    "| --- | --- | --- | --- | --- |"
)


class Judged(msgspec.Struct, frozen=True):
    """One utterance with what became of it.

    Parameters:
        found: the action that is called or proposed; empty for none.
        arguments: those that the desk reads for the action that is wanted.
    """

    file: str
    said: Utterance
    found: str
    arguments: dict[str, object]

    @property
    def is_right(self) -> bool:
        """Whether the action is the wanted one, or none is wanted and found."""
        return self.found == self.said.action

    @property
    def has_arguments(self) -> bool:
        """Whether what the words give was read."""
        return all(
            self.arguments.get(name) in (value, f"{value}:00")  # a time with its seconds
            for name, value in self.said.arguments.items()
        )


class Result(msgspec.Struct, frozen=True):
    """What became of all utterances, by words or by meaning."""

    by_meaning: bool
    judged: tuple[Judged, ...]

    @property
    def missed(self) -> list[Judged]:
        """Those that reached another action than the wanted one."""
        return [one for one in self.judged if not one.is_right]

    def count(self, files: Sequence[str]) -> tuple[int, int, int, int, int, int]:
        """Return right and all requests, quiet and all questions, right and all arguments."""
        own = [one for one in self.judged if one.file in files]
        asked = [one for one in own if one.said.action]
        other = [one for one in own if not one.said.action]
        given = [one for one in asked if one.said.arguments]
        return (
            sum(one.is_right for one in asked),
            len(asked),
            sum(one.is_right for one in other),
            len(other),
            sum(one.has_arguments for one in given),
            len(given),
        )


async def measure(groups: Collection[str] = GROUPS.keys(), *, by_meaning: bool) -> Result:
    """Say every utterance of groups of files to its desk."""
    said = [
        (file, one) for group in groups for file in GROUPS[group] for one in read_utterances(file)
    ]
    judged: list[Judged] = []
    for name in SITES:
        own = [(file, one) for file, one in said if one.desk == name]
        if not own:
            continue
        async with open_desk(name, by_meaning=by_meaning) as desk:
            for file, one in own:
                given = desk.fill(one.action, one.text) if one.arguments else {}
                judged.append(Judged(file, one, await desk.find(one.text), dict(given)))
    return Result(by_meaning, tuple(judged))


def write_table(results: Sequence[Result], groups: Collection[str] = GROUPS.keys()) -> str:
    """Return the figures as a table in Markdown."""
    rows = [
        f"| {group}, by {'meaning' if one.by_meaning else 'words'} {_row(one.count(GROUPS[group]))}"
        for one in results
        for group in groups
    ]
    return "\n".join([_HEAD, *rows])


def _row(counts: tuple[int, int, int, int, int, int]) -> str:
    right, asked, quiet, other, given, all_given = counts
    return (
        f"| {asked + other} | {_share(right, asked)} | {_share(quiet, other)}"
        f" | {_share(given, all_given)} |"
    )


def _share(some: int, of: int) -> str:
    return f"{some} of {of} ({some / of:.2f})" if of else "none"


def with_figures(page: str, results: Sequence[Result], groups: Collection[str]) -> str:
    """Return the page with the rows of these groups between its markers; other rows stay."""
    before, _, rest = page.partition(BEGIN)
    kept, _, after = rest.partition(END)
    new = write_table(results, groups).splitlines()
    rows = {_name_of(row): row for row in (*kept.strip().splitlines(), *new)}
    order = [f"{name}, by {way}" for way in ("words", "meaning") for name in GROUPS]
    table = "\n".join([_HEAD, *(rows[name] for name in order if name in rows)])
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


def _name_of(row: str) -> str:
    return row.split("|")[1].strip()
