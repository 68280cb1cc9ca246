"""The public test kit, as a stranger's package uses it: the page's loyalty card keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from aitp_desk.capability import (
    Capability,
    Context,
    Keep,
    Leave,
    Part,
    Record,
    Say,
    Schema,
    Start,
    Take,
    Work,
    document_of,
)
from aitp_desk.testing import CapabilityContract, ScriptedAgent, open_desk
from tests.support.doubles.agent import Clock
from tests.support.plugins.packages import installed, loyalty, module_on_the_page

CONTRACT = [name for name in vars(CapabilityContract) if name.startswith("test_")]


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CapabilityContract]:
    """What a runner makes of the page's test module."""
    package = tmp_path_factory.mktemp("package")
    modules = {"loyalty": loyalty(), "test_loyalty": module_on_the_page("test_loyalty")}
    with installed(package, modules, {}):
        import importlib

        yield importlib.import_module("test_loyalty").TestLoyalty()


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTRACT)
def test_the_pages_capability_keeps_the_contract(name: str, stranger: CapabilityContract) -> None:
    getattr(stranger, name)()


class Note(msgspec.Struct, frozen=True):
    text: str


class Notes(Capability):
    """Keeps everything."""

    slug = "notes"

    def schemas(self) -> tuple[Schema, ...]:
        messages = {"note": Note}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Notes")),)


class Faults:
    """What a capability does wrong, by the test of the contract that finds it."""

    class Silent(Notes):
        slug = "silent"

        def as_text(self, part: Part) -> str:
            return ""

    class Greedy(Notes):
        slug = "greedy"

        def from_text(self, text: str, waiting: object) -> Mapping[str, Any]:
            return {"note": Note(text)}

    class Fickle(Notes):
        slug = "fickle"
        count = 0

        def judge(self, part: Part, context: object) -> Leave | Take:
            Faults.Fickle.count += 1
            return Take((Say(str(Faults.Fickle.count)),))

    class Clumsy(Notes):
        slug = "clumsy"

        def judge(self, part: Part, context: object) -> Take:
            return Take((Keep("", 1, 0),))

    class Wordy(Notes):
        slug = "wordy"

        def judge(self, part: Part, context: object) -> Take:
            return Take((Start("remind", "a" * 401),))

        def jobs(self) -> Mapping[str, Work]:
            async def remind(job: object) -> tuple[()]:
                return ()

            return {"remind": Work(remind)}

    class Failing(Notes):
        slug = "failing"

        def judge(self, part: Part, context: object) -> Take:
            raise LookupError(part.content.text)

    class Mistaken(Notes):
        slug = "mistaken"

        def judge(self, part: Part, context: Context) -> Take:
            return Take((Keep("asked", 1, 0, open_until=context.now + 60),))

        def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
            return {"answer": text} if waiting and text == "yes" else None

    class Unwell(Notes):
        slug = "unwell"

        def watched(self) -> Any:
            return {"the other": "unwell"}

    class Loose(Notes):
        slug = "loose"

        def schemas(self) -> tuple[Schema, ...]:
            document = {"type": "object", "required": ["other"]}
            return (Schema(version=1, messages={"note": Note}, document=document),)


@pytest.mark.parametrize(
    ("kind", "test", "told"),
    [
        (Faults.Silent, "every_example_has_words", "has no text"),
        (Faults.Greedy, "words_that_answer_nothing_are_nobodys", "was taken for"),
        (Faults.Fickle, "judging_gives_the_same_each_time_and_changes_nothing", "in two ways"),
        (Faults.Clumsy, "all_effects_can_be_applied", "A key must have 1 to 200 characters"),
        (Faults.Wordy, "all_effects_can_be_applied", "A job's ref must have 1 to 400 characters"),
        (Faults.Failing, "a_desk_takes_every_example_and_tells_it_in_words", "respond with 500"),
        (Faults.Mistaken, "words_that_answer_what_waits_are_a_message", "this has none"),
        (Faults.Unwell, "it_tells_how_it_is", "its health is 'unwell'"),
        (Faults.Loose, "examples_fit_the_served_schema_and_the_types", "does not fit the schema"),
    ],
)
def test_the_contract_finds_what_is_wrong(kind: type[Capability], test: str, told: str) -> None:
    class Contract(CapabilityContract):
        capability = kind
        examples: ClassVar = {1: [{"note": {"text": "Planted words."}}]}

    with pytest.raises((AssertionError, ValueError), match=told):
        getattr(Contract(), f"test_{test}")()


def test_an_example_that_is_missing_is_named() -> None:
    class Contract(CapabilityContract):
        capability = Notes
        examples: ClassVar = {}

    with pytest.raises(AssertionError, match="version 1 has no example of note"):
        Contract().test_every_key_of_every_version_has_an_example()


async def test_a_guest_talks_to_a_desk_of_their_own(tmp_path: Path) -> None:
    agent = ScriptedAgent("First.", "Second.")
    async with open_desk(
        "capabilities.notes={}", capabilities={"notes": Notes}, agent=agent
    ) as guest:
        schema = f"{guest.url}/capabilities/notes/v1/schema.json"
        thread = await guest.open(schema)
        told = await guest.say(thread, {"$schema": schema, "note": {"text": "Hello."}}, "And this.")
        assert told.status == 200
        (first, *_) = await guest.read(thread)
        assert json.loads(first[0])["note"] == {"text": "Hello."}


async def test_what_a_capability_raises_is_not_shown() -> None:
    settings = "capabilities.failing={}"
    async with open_desk(settings, capabilities={"failing": Faults.Failing}) as guest:
        schema = f"{guest.url}/capabilities/failing/v1/schema.json"
        thread = await guest.open()
        told = await guest.say(thread, {"$schema": schema, "note": {"text": "Planted words."}})
        assert (told.status, told.body["error"]["type"]) == (500, "server_error")
        assert "Planted" not in json.dumps(told.body)
        assert await guest.read(thread) == []


@pytest.mark.slow
async def test_what_has_had_its_time_is_no_answer_any_more(tmp_path: Path) -> None:
    clock = Clock()
    with installed(tmp_path, {"loyalty": loyalty()}, {"loyalty": "loyalty:Loyalty"}):
        async with open_desk(
            "capabilities.loyalty.stamps=1", agent=ScriptedAgent("The agent."), clock=clock
        ) as guest:
            schema = f"{guest.url}/capabilities/loyalty/v1/schema.json"
            thread = await guest.open(schema)
            stamp = {"$schema": schema, "collect_stamp": {"card": "c-1", "receipt": "r-1"}}
            await guest.say(thread, stamp)
            (_, asked) = await guest.read(thread)
            request = json.loads(asked[0])["request_reward"]["request_id"]
            clock.advance(24 * 60 * 60)
            await guest.say(thread, "1")
            assert (await guest.wait(thread, 4))[2:] == [["1"], ["The agent."]]
            choice = {"request_id": request, "option": "a slice of cake"}
            await guest.say(thread, {"$schema": schema, "choose_reward": choice})
            (told,) = (await guest.wait(thread, 6))[-1]
            assert told == "This reward was chosen before, or has had its time."
