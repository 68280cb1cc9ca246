"""One visit by the command line: opens the site, asks or calls, and prints what comes back."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from aitp_desk.cli.commands.agents import report
from aitp_desk.visitor import (
    Answer,
    BudgetSpent,
    Identity,
    NotOffered,
    PlannedCall,
    Policy,
    ResponseCache,
    Site,
    SiteAction,
    VisitError,
    visit,
)
from aitp_desk.visitor.context import Disclosure, SharedContext

PROMPT = "> "
AGREEMENTS = frozenset({"y", "yes"})
"""The only words that agree to a price; any others decline it."""
OPEN = 6
"""The exit code if the site asks something, or has not finished."""


class VisitChoices(msgspec.Struct, frozen=True):
    """What the options of the command say.

    Parameters:
        record: where the signed record of the visit is written; None for nowhere.
        facts: sent with the first question, once the person has seen and confirmed them.
        once: the key of a call that is made once, also by later commands; None for a new call.
        keeps_documents: whether documents of the site are kept for the next visit.
    """

    url: str
    policy: Policy
    credential: str | None
    identity: Identity | None
    record: Path | None
    protocol: str | None
    facts: tuple[str, ...]
    once: str | None
    keeps_documents: bool
    confirms_all: bool


async def run_visit(
    choices: VisitChoices, act: Callable[[VisitSession], Awaitable[int]], *, as_json: bool
) -> int:
    """Visit the site, act, and return the exit code.

    Raises:
        ValueError: the URL or a fact is not valid.
        VisitError: the visit could not go on.
    """
    context = SharedContext(agree if choices.confirms_all else ask_to_disclose)
    for fact in choices.facts:
        context.keep(fact)
    async with visit(
        report.complete_url(choices.url),
        policy=choices.policy,
        credential=choices.credential,
        identity=choices.identity,
        protocol=choices.protocol,
        cache=ResponseCache(find_cache_folder() if choices.keeps_documents else None),
        context=context,
        journal=None if choices.once is None else find_state_folder(),
    ) as site:
        try:
            return await act(VisitSession(site, as_json=as_json, once=choices.once))
        finally:  # what was paid before a failure is recorded as well
            if choices.record is not None:
                write_record(choices.record, site)


class VisitSession:
    """What the command does at an open site; each method returns the exit code."""

    def __init__(self, site: Site, *, as_json: bool, once: str | None = None) -> None:
        self._site = site
        self._once = once
        self._as_json = as_json

    def show_endpoints(self) -> int:
        """Print every protocol of the site with its reason, and what is not used."""
        self._print(
            report.list_endpoints(self._site), {"endpoints": report.describe_endpoints(self._site)}
        )
        return 0

    async def show_actions(self) -> int:
        """Print what the site offers to do."""
        actions = await self._site.actions()
        self._print(report.list_actions(actions), {"actions": list(actions)})
        return 0

    async def show_trust(self) -> int:
        """Print the figures by which the site may be judged."""
        figures = await self._site.trust()
        self._print(report.list_figures(figures), {"trust": list(figures)})
        return 0

    async def ask(self, question: str) -> int:
        """Put one question and print the answer with its sources."""
        answer = await self._site.ask(question)
        self._tell(answer)
        return 0 if answer.kind == "answer" else OPEN

    async def call(self, name: str, words: Sequence[str]) -> int:
        """Call an action and print how it went."""
        actions = await self._site.actions()
        action = next((one for one in actions if report.is_named(one.name, name)), None)
        if action is None:
            told = (
                f"The site offers no action {name}. --actions lists what it offers, and --no-cache"
                " asks the site again instead of using kept documents."
            )
            raise NotOffered("\n".join((told, *report.list_unused(self._site))))
        arguments = read_arguments(action, words)
        outcome = await self._site.call(action.name, arguments, key=self._once)
        if outcome.kind == "waiting" and self._once is not None:
            with suppress(BudgetSpent):  # it is read by a later command
                outcome = await self._site.poll(outcome)
        self._print(report.list_outcome(outcome), {"outcome": outcome})
        return 0 if outcome.kind == "done" else OPEN

    async def converse(self) -> int:
        """Prompt for questions until an empty line or the end of the input."""
        asked: Answer | None = None
        is_terminal = sys.stdin.isatty()
        while True:
            with interruptible(is_terminal=is_terminal):
                if is_terminal:
                    click.echo(PROMPT, nl=False)
                words = sys.stdin.readline().strip()
            if not words:
                return 0
            if not is_terminal:
                click.echo(f"{PROMPT}{words}")
            try:
                asked = await self._reply(words, asked)
            except VisitError as error:
                for line in report.write_error(error):
                    click.echo(line, err=True)

    async def _reply(self, words: str, asked: Answer | None) -> Answer | None:
        """Put a question, choose a reading by number, or answer to a price."""
        choices = () if asked is None else asked.choices
        if asked is not None and asked.quote is not None:
            if words.casefold() in AGREEMENTS:
                outcome = await self._site.agree(asked)
                self._print(report.list_outcome(outcome), {"outcome": outcome})
                return self._site.asked
            answer = await self._site.decline()
        elif words.isascii() and words.isdigit() and 0 < int(words[:6]) <= len(choices):
            answer = await self._site.choose(choices[int(words) - 1])
        else:
            answer = await self._site.ask(words)
        self._tell(answer)
        return answer

    def _tell(self, answer: Answer) -> None:
        endpoint = self._site.endpoint(answers=True)
        told = {"endpoint": report.describe_endpoint(endpoint), "answer": answer}
        failed = self._site.unused[len(self._site.found.unused) :]
        self._print([*report.list_answer(answer, endpoint), *report.list_failed(failed)], told)

    def _print(self, lines: Sequence[str], told: Mapping[str, Any]) -> None:
        if self._as_json:
            unused = [msgspec.to_builtins(one) for one in self._site.unused]
            click.echo(report.write_json({"site": self._site.url, **told, "unused": unused}))
            return
        for line in lines:
            click.echo(report.show(line))


def write_record(file: Path, site: Site) -> None:
    """Write the signed record of a visit, readable by its owner alone."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(site.write_transcript())
    except OSError as error:
        click.echo(f"--record: {file} cannot be written: {error.strerror}.", err=True)


def read_arguments(action: SiteAction, words: Sequence[str]) -> dict[str, Any]:
    """Read ``KEY=VALUE``: as text where the action takes text, else as JSON.

    Raises:
        ValueError: an argument is not written so.
    """
    properties = action.input_schema.get("properties") or {}
    arguments: dict[str, Any] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator or not name:
            raise ValueError(f"{word!r} is no argument; write it as KEY=VALUE.")
        member = properties.get(name)
        kind = member.get("type", "string") if isinstance(member, Mapping) else "string"
        if kind == "string":
            arguments[name] = text
            continue
        try:
            arguments[name] = msgspec.json.decode(text)
        except msgspec.DecodeError:
            raise ValueError(f"{name} takes {kind}; write it as JSON, such as 3.") from None
    return arguments


async def agree(_shown: PlannedCall | Disclosure) -> bool:
    """Confirm without asking, as ``--yes`` says."""
    return True


async def ask_person(call: PlannedCall) -> bool:
    """Show what would be done, why it is asked and what it costs; a person at a terminal agrees."""
    return _ask(report.list_planned_call(call), "Do it?")


async def ask_to_disclose(disclosure: Disclosure) -> bool:
    """Show exactly what a site would learn; a person at a terminal agrees."""
    lines = (f"To {disclosure.to} would be sent:", *disclosure.text.splitlines())
    return _ask(lines, "Send it?")


def _ask(lines: Sequence[str], question: str) -> bool:
    for line in lines:
        click.echo(report.show(line), err=True)
    if not sys.stdin.isatty():
        click.echo("There is no terminal to confirm it at; --yes confirms.", err=True)
        return False
    with interruptible(is_terminal=True):
        try:
            return click.confirm(question, err=True)
        except click.Abort:
            click.echo(err=True)
            return False


@contextmanager
def interruptible(*, is_terminal: bool) -> Iterator[None]:
    """Let Ctrl-C end a prompt; the event loop notices it only after a line."""
    if not is_terminal:
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def find_cache_folder() -> Path:
    """Return the folder where documents of visited sites are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "aitp-desk" / "visits"


def find_state_folder() -> Path:
    """Return the folder that keeps which calls were made once."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "aitp-desk" / "visits"
