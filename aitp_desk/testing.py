"""The public test kit: a desk for tests, and the contract of every capability.

The desk runs over a temporary folder, an agent replies by script, a guest calls it over HTTP.

    from aitp_desk.testing import CapabilityContract
    from loyalty import Loyalty

    class TestLoyalty(CapabilityContract):
        capability = Loyalty
        examples = {1: [{"collect_stamp": {"card": "c-1", "receipt": "r-1"}}]}

A runner such as pytest finds the tests of the contract by their names; they need none.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import aiohttp
import msgspec
from msgspec.structs import replace

from aitp_desk.actions.declaration.parts import MAX_SUMMARY
from aitp_desk.agent.base import Agent, Answer, Event, Turn
from aitp_desk.app.server import open_server
from aitp_desk.auth.keys.data_keys import FIRST, DataKeys
from aitp_desk.auth.keys.encryption import TextSealer
from aitp_desk.capability import (
    Capability,
    Component,
    Context,
    Health,
    InvalidRequest,
    Keep,
    Own,
    Paid,
    Part,
    Party,
    Record,
    Take,
    Verdict,
)
from aitp_desk.config import load_config
from aitp_desk.desk.access.sealed_values import Sealer
from aitp_desk.desk.plugins.discovery import load_plugin
from aitp_desk.desk.plugins.effects import EffectCollector, EffectTarget
from aitp_desk.desk.plugins.messages.parts import SCHEMA, read_part
from aitp_desk.desk.plugins.outside.offers import make_plugin_action
from aitp_desk.desk.plugins.read_set import ReadSet
from aitp_desk.desk.plugins.registry import SCHEMAS_PATH, EnabledPlugin, PluginRegistry, SchemaMatch

NOON = 1_800_000_000
"""The clock when an example is judged, in Unix seconds."""
NAME = "under_test"
"""The name of the capability in the settings of the contract's desk."""
SITE = "https://desk.example"
PATIENCE = 30
"""Seconds that a guest waits for messages."""


class ScriptedAgent:
    """An agent that replies with each text in turn, then repeats the last.

    Attributes:
        turns: the turns that it replied to, in order.
    """

    name = "scripted"

    def __init__(self, *texts: str) -> None:
        self.turns: list[Turn] = []
        self._texts = texts or ("I have heard you.",)

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Reply with the next text."""
        self.turns.append(turn)
        yield Answer(self._texts[min(len(self.turns), len(self._texts)) - 1])


class Told(msgspec.Struct, frozen=True):
    """A response: its status and its JSON."""

    status: int
    body: Any


class Guest:
    """A client without a credential that uses a desk's Threads API.

    Attributes:
        url: where the desk listens.
    """

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self.url = url
        self._http = http

    async def send(self, method: str, path: str, body: object = None) -> Told:
        """Send one request; the body goes as JSON, where there is one."""
        async with self._http.request(method, path, json=body) as response:
            return Told(response.status, await response.json(content_type=None))

    async def open(self, *schemas: str) -> str:
        """Open a thread as an actor that declares these schemas, and return its id."""
        actor = {
            "id": "https://guest.example",
            "capabilities": [{"schema": schema} for schema in schemas],
        }
        told = await self.send("POST", "/v1/threads", {"metadata": {"actors": [actor]}})
        return str(told.body["id"])

    async def say(self, thread_id: str, *parts: str | Mapping[str, Any]) -> Told:
        """Post a message; a mapping goes as a structured part with its ``$schema``."""
        content = [part if isinstance(part, str) else json.dumps(part) for part in parts]
        body = {"role": "user", "content": content}
        return await self.send("POST", f"/v1/threads/{thread_id}/messages", body)

    async def read(self, thread_id: str) -> list[list[str]]:
        """Return the parts of every message of a thread, the oldest first."""
        told = await self.send("GET", f"/v1/threads/{thread_id}/messages?order=asc&limit=100")
        return [message["content"] for message in told.body["data"]]

    async def wait(self, thread_id: str, count: int) -> list[list[str]]:
        """Wait for ``count`` messages, then :meth:`read`: agents and jobs take their time.

        Raises:
            TimeoutError: there are fewer after :data:`PATIENCE` seconds.
        """
        path = f"/v1/threads/{thread_id}/events"
        async with (
            asyncio.timeout(PATIENCE),
            self._http.get(path, headers={"Last-Event-ID": "0"}) as events,
        ):
            left = count
            while left:
                left -= (await events.content.readline()).startswith(b"event: message.created")
        return await self.read(thread_id)


@asynccontextmanager
async def open_desk(
    *settings: str,
    folder: Path | None = None,
    capabilities: Mapping[str, type[Capability]] | None = None,
    agent: Agent | None = None,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Guest]:
    """Run a desk on a free port of this machine, and yield its guest.

    Parameters:
        settings: as ``--set`` takes them: ``capabilities.loyalty.stamps=3``. No limits apply.
        folder: the site's; by default a temporary one with a single page. The desk's data is
            temporary in any case.
        capabilities: those that no installed package has, by the names that the settings use.
        agent: by default a :class:`ScriptedAgent`.
        clock: Unix seconds.
    """
    with tempfile.TemporaryDirectory() as temporary:
        site = folder or Path(temporary) / "site"
        if folder is None:
            (site / "content").mkdir(parents=True)
            (site / "content" / "index.md").write_text("# A shop\n\nWe open at nine.\n")
        config = load_config(
            site, ("limits.enabled=false", *settings), port=0, data=Path(temporary) / "data"
        )
        async with (
            open_server(
                config,
                clock=clock,
                agent=agent or ScriptedAgent(),
                capabilities_beside=capabilities or {},
            ) as serving,
            aiohttp.ClientSession(serving.url) as http,
        ):
            yield Guest(serving.url, http)


class CapabilityContract:
    """The contract of every capability, as tests. Derive from it, and name the capability.

    Attributes:
        capability: the class under test.
        chosen: its settings, as in ``desk.toml``.
        examples: valid messages without ``$schema``, by their version; at least one for each key.
        answers: texts that answer nothing.
    """

    capability: ClassVar[type[Capability]]
    chosen: ClassVar[Mapping[str, Any]] = {}
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]]
    answers: ClassVar[Sequence[str]] = ("", "1", "yes", "What are your opening hours?", "{}", "\n")

    def test_every_key_of_every_version_has_an_example(self) -> None:
        """Every message type is covered by the other tests."""
        for version, schema in self._enabled().schemas.items():
            shown = {key for example in self.examples.get(version, ()) for key in example}
            missing = sorted(set(schema.messages) - shown)
            _demand(not missing, f"version {version} has no example of {', '.join(missing)}")

    def test_examples_fit_the_served_schema_and_the_types(self) -> None:
        """The JSON Schema and the types accept every example."""
        import jsonschema_rs

        enabled = self._enabled()
        for version, schema in enabled.schemas.items():
            validator = jsonschema_rs.validator_for(json.dumps(schema.document))
            for example in self.examples.get(version, ()):
                whole = {SCHEMA: enabled.addresses[version], **_plain(example)}
                wrong = [error.message for error in validator.iter_errors(whole)]
                _demand(not wrong, f"{example} does not fit the schema: {wrong}")
        _demand(bool(self._parts(enabled)), "there are no examples")

    def test_what_breaks_the_types_is_refused(self) -> None:
        """A message with no key, with two keys, or with another type fails."""
        enabled = self._enabled()
        for version, schema in enabled.schemas.items():
            broken: list[dict[str, Any]] = [{}, *({key: 7} for key in schema.messages)]
            if len(schema.messages) > 1:
                broken.append({key: {} for key in schema.messages})
            for given in broken:
                try:
                    read_part({SCHEMA: "", **given}, SchemaMatch(enabled, version), "content[0]")
                except InvalidRequest:
                    continue
                raise AssertionError(f"{given} was taken for a message of version {version}")

    def test_every_example_has_words(self) -> None:
        """A person who sees only the text can follow."""
        enabled = self._enabled()
        for part in self._parts(enabled):
            words = enabled.capability.as_text(part)
            _demand(bool(words.strip()), f"{part.given} has no text")
            _demand(words == enabled.capability.as_text(part), f"{part.given} has a different text")

    def test_words_that_answer_nothing_are_nobodys(self) -> None:
        """While nothing waits, no text counts as an answer."""
        enabled = self._enabled()
        for words in self.answers:
            taken = enabled.capability.from_text(words, ())
            _demand(taken is None, f"{words!r} was taken for {taken}")

    def test_judging_gives_the_same_each_time_and_changes_nothing(self) -> None:
        """The desk may judge a message any number of times."""
        enabled = self._enabled()
        for part in self._parts(enabled):
            before = msgspec.json.encode(part)
            first = enabled.capability.judge(part, _context())
            again = enabled.capability.judge(part, _context())
            _demand(repr(first) == repr(again), f"{part.given} was judged in two ways")
            _demand(msgspec.json.encode(part) == before, f"judging has changed {part.given}")

    def test_all_effects_can_be_applied(self) -> None:
        """The desk can write the keys, values, jobs and messages."""
        enabled = self._enabled()
        for part in self._parts(enabled):
            verdict = enabled.capability.judge(part, _context())
            if isinstance(verdict, Take):
                _apply(enabled, verdict)

    def test_what_waits_has_words_and_a_form_that_every_door_can_show(self) -> None:
        """Form members are plain; a filled form is a valid message or refused."""
        enabled = self._enabled()
        for part in self._parts(enabled):
            others = tuple(Party(id=name) for name in ("visitor", "https://other.example"))
            verdict = enabled.capability.judge(part, replace(_context(), parties=others))
            for record in _open_records(verdict):
                waits = enabled.capability.waiting(record)
                if waits is None:
                    continue
                asked = _read(enabled, waits.message)
                _demand(bool(enabled.capability.as_text(asked).strip()), f"{waits.id} has no text")
                _check_form(waits.form)
                tries: list[dict[str, Any]] = [{}, {"": None}]
                for filled in (*tries, {name: [] for name in waits.form["properties"]}):
                    with suppress(InvalidRequest):
                        _read(enabled, enabled.capability.answer(record, filled))

    def test_words_that_answer_what_waits_are_a_message(self) -> None:
        """A message made from a text fits the newest version."""
        enabled = self._enabled()
        others = tuple(Party(id=name) for name in ("visitor", "https://other.example"))
        for part in self._parts(enabled):
            verdict = enabled.capability.judge(part, replace(_context(), parties=others))
            records = _open_records(verdict)
            for words in (*self.answers, "2", "no") if records else ():
                taken = enabled.capability.from_text(words, records)
                if taken is None:
                    continue
                try:
                    _read(enabled, taken)
                except InvalidRequest as error:
                    raise AssertionError(f"{words!r} was taken for {taken}: {error}") from None

    def test_it_tells_how_it_is(self) -> None:
        """Health is None or a state with a sentence; also that of watched systems."""
        capability = self._enabled().capability
        tells: tuple[Any, ...] = (capability.health(), *capability.watched().values())
        for told in tells:
            is_told = told is None or (isinstance(told, Health) and bool(told.reason.strip()))
            _demand(is_told, f"its health is {told!r}")

    def test_what_it_tells_callers_has_schemas_and_says_what_it_is(self) -> None:
        """Every protocol can offer the queries."""
        for query in self._enabled().queries:
            action = make_plugin_action(query, _no_components).action
            _demand(bool(action.summary.strip()), f"{query.name} has no summary")
            _demand(len(action.summary) <= MAX_SUMMARY, f"{query.name} has a long summary")

    def test_a_desk_takes_every_example_and_tells_it_in_words(self) -> None:
        """Over HTTP, by an actor with the schema and one without it."""
        asyncio.run(self._talk())

    async def _talk(self) -> None:
        settings = [f"capabilities.{NAME}={{}}"]
        settings += [
            f"capabilities.{NAME}.{key}={json.dumps(value)}" for key, value in self.chosen.items()
        ]
        async with open_desk(*settings, capabilities={NAME: self.capability}) as guest:
            for version, examples in self.examples.items():
                path = SCHEMAS_PATH.format(slug=self.capability.slug, version=version)
                served = await guest.send("GET", path)
                _demand(served.status == 200, f"{path} gives {served.status}")
                for example in examples:
                    for schemas in ((), (guest.url + path,)):
                        await _say(guest, {SCHEMA: guest.url + path, **_plain(example)}, schemas)

    def _enabled(self) -> EnabledPlugin:
        enabled = load_plugin(self.capability, self.chosen, SITE)
        enabled.capability.use(Own(SITE, _derive))
        return enabled

    def _parts(self, enabled: EnabledPlugin) -> list[Part]:
        return [
            read_part(
                {SCHEMA: enabled.addresses[version], **_plain(example)},
                SchemaMatch(enabled, version),
                "content[0]",
            )
            for version, examples in self.examples.items()
            for example in examples
        ]


async def _say(guest: Guest, message: Mapping[str, Any], schemas: Sequence[str]) -> None:
    thread_id = await guest.open(*schemas)
    told = await guest.say(thread_id, message)
    _demand(told.status < 500, f"{message} made the desk respond with {told.status}")
    if told.status != 200:
        return
    for content in await guest.read(thread_id):
        is_told = any(f'"{SCHEMA}"' in text for text in content)
        _demand(bool(schemas) or not is_told, f"a reader without the schema received {content}")


def _open_records(verdict: Verdict) -> list[Record]:
    """Return the records that wait for an answer after a verdict."""
    effects = verdict.effects if isinstance(verdict, Take) else ()
    return [
        Record(key=one.key, version=1, value=_plain(one.value), open_until=one.open_until)
        for one in effects
        if isinstance(one, Keep) and one.open_until is not None
    ]


def _read(enabled: EnabledPlugin, message: Mapping[str, Any]) -> Part:
    whole = {SCHEMA: enabled.addresses[enabled.newest], **_plain(message)}
    return read_part(whole, SchemaMatch(enabled, enabled.newest), "content[0]")


def _check_form(form: Mapping[str, Any]) -> None:
    _demand(form.get("type") == "object", "a form must be the schema of an object")
    for name, member in form["properties"].items():
        of = member["items"] if member["type"] == "array" else member
        kinds = {"string", "integer", "number", "boolean"}
        is_plain = of.get("type") in kinds or "anyOf" in of or "enum" in of
        _demand(
            is_plain,
            f"{name} of a form is {member}; it must be a text, number, boolean or list of texts",
        )


def _derive(purpose: str) -> bytes:
    return hashlib.sha256(purpose.encode()).digest()


async def _no_components() -> Sequence[Component]:
    return ()


def _context() -> Context:
    return Context(now=NOON, thread_id="thread_1", message_id="msg_1", actor="visitor", parties=())


def _apply(enabled: EnabledPlugin, verdict: Take) -> None:
    """Collect effects as for a thread without records."""
    where = EffectTarget("thread_1", "", SITE, (), None, float(NOON))
    capabilities = PluginRegistry([enabled])
    ledger = ReadSet(capabilities.families)
    for effect in verdict.effects:
        if isinstance(effect, Keep):
            ledger.records[ledger.place(enabled.slug, effect.key)] = None
        elif isinstance(effect, Paid):
            ledger.calls[effect.call_id] = None
    sealer = Sealer(TextSealer(DataKeys({FIRST: bytes(32)})), lambda: NOON)
    wishes = EffectCollector(capabilities, where, ledger, sealer)
    wishes.collect(enabled, verdict.effects, enabled.url_of(enabled.newest), "msg_1")


def _plain(example: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(example)
    return plain


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)
