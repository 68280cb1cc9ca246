"""From what is missing to the next question, and from its answer back to arguments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.actions.base import ActionResult, ArgumentPrompt, Caller, Context, OfferedAction
from aitp_desk.agent.slots.base import MissingArgument
from aitp_desk.agent.slots.questions import ArgumentQuestion, read_asked, write_memory
from aitp_desk.desk.dialogue.next_question import (
    make_correction_question,
    merge_answer,
    next_question,
)
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.question import Choice, Choose, Confirm, Field, Fill, Pay
from aitp_desk.model.errors import InvalidRequest

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)
CONTEXT = Context("call_1", Caller("key:1"))
POSTAL = {
    "type": "string",
    "pattern": "^[0-9]{5}$",
    "description": "five digits",
    "autocomplete": "postal-code",
}
PROPERTIES: dict[str, Any] = {
    "size": {"enum": ["S", "M", "L"]},
    "floor": {"enum": [1, 2], "type": "integer"},
    "extras": {"type": "array", "items": {"enum": ["bag", "card"]}},
    "items": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
                "quantity": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
            },
            "required": ["sku"],
        },
    },
    "address": {
        "type": "object",
        "title": "Shipping address",
        "properties": {
            "name": {"type": "string", "maxLength": 20, "autocomplete": "name"},
            "extra": {"type": "string"},
            "postal_code": POSTAL,
            "phone": {"type": "string", "autocomplete": "shipping tel"},
        },
        "required": ["name", "postal_code", "phone"],
    },
    "email": {"type": "string", "format": "email"},
    "guests": {"type": "integer", "minimum": 1, "maximum": 9},
    "day": {"type": "string", "format": "date"},
    "pet": {"type": "boolean", "description": "whether a dog comes along"},
    "note": {"type": "string", "maxLength": 2000},
    "pin": {"type": "string", "writeOnly": True, "format": "password"},
    "price": {"type": "string", "format": "decimal"},
    "odd": {"type": "object"},
}


async def _nothing(_value: Any, _context: Context) -> ActionResult:
    return ActionResult(None)


def taking(*names: str, **asks: ArgumentPrompt) -> OfferedAction:
    """An action that needs these."""
    schema = {
        "type": "object",
        "properties": {name: PROPERTIES[name] for name in names},
        "required": list(names),
    }
    action = Action("book", "Books.", input_schema=schema)
    return OfferedAction(action, read=dict, perform=_nothing, asks=asks)


async def asked_for(offered: OfferedAction, arguments: Mapping[str, Any] | None = None) -> Any:
    """What is asked next."""
    return await next_question(offered, arguments or {}, CONTEXT)


async def answer(
    offered: OfferedAction, value: Any, arguments: Mapping[str, Any] | None = None
) -> Any:
    """The arguments once the next question has this answer, or what is asked again."""
    asked = await asked_for(offered, arguments)
    merged = merge_answer(offered, asked, value, arguments or {}, NOW)
    return merged if merged.again is not None else merged.arguments


async def test_a_choice_is_asked_for_alone() -> None:
    """It has its own values, whatever their type."""
    offered = taking("size", "email")
    asked = await asked_for(offered)
    choices = tuple(Choice(id=one, name=one) for one in "SML")
    assert asked == ArgumentQuestion(Choose(title="Which size?", choices=choices), "size")
    assert await answer(offered, [{"id": "M", "quantity": 1}]) == {"size": "M"}
    assert await answer(taking("floor"), [{"id": "2", "quantity": 1}]) == {"floor": 2}


async def test_a_list_of_choices() -> None:
    """Several of them can be chosen."""
    asked = await asked_for(taking("extras"))
    assert asked.question.many == "several"
    chosen = [{"id": "card", "quantity": 1}, {"id": "bag", "quantity": 1}]
    assert await answer(taking("extras"), chosen) == {"extras": ["card", "bag"]}


@pytest.mark.parametrize(("default", "shown"), [(True, "yes"), (False, "no"), (None, "")])
async def test_a_form_shows_the_default_of_a_yes_or_no(default: bool | None, shown: str) -> None:
    given = {} if default is None else {"default": default}
    pet = {**PROPERTIES["pet"], **given}
    schema = {
        "type": "object",
        "properties": {"email": PROPERTIES["email"], "note": PROPERTIES["note"], "pet": pet},
        "required": ["email", "note", "pet"],
    }
    action = Action("book", "Books.", input_schema=schema)
    asked = await asked_for(OfferedAction(action, read=dict, perform=_nothing, asks={}))
    (field,) = (one for one in asked.question.fields if one.id == "pet")
    assert (field.options, field.default) == (("yes", "no"), shown)


async def test_a_yes() -> None:
    """A boolean is asked for by a yes."""
    asked = await asked_for(taking("pet", "email"))
    assert asked == ArgumentQuestion(
        Confirm(title="Pet?", description="Whether a dog comes along."), "pet"
    )
    assert await answer(taking("pet"), False) == {"pet": False}


async def test_an_object_is_a_form() -> None:
    """With what it may have besides, and what each of its members is."""
    asked = await asked_for(taking("address"))
    assert asked == ArgumentQuestion(
        Fill(
            title="Shipping address",
            fields=(
                Field(id="address.name", label="Name", required=True, autocomplete="name"),
                Field(id="address.extra", label="Extra"),
                Field(
                    id="address.postal_code",
                    label="Postal code",
                    description="Five digits.",
                    required=True,
                    autocomplete="postal-code",
                ),
                Field(
                    id="address.phone",
                    label="Phone",
                    type="tel",
                    required=True,
                    autocomplete="shipping tel",
                ),
            ),
        )
    )


async def test_what_is_there_is_not_asked_for() -> None:
    """Nor what an object may have, once it is begun."""
    known = {"address": {"name": "Ada", "phone": "1"}}
    asked = await asked_for(taking("address"), known)
    assert [field.id for field in asked.question.fields] == ["address.postal_code"]
    assert asked.question.title == "What is the postal code?"


async def test_several_values_are_one_form() -> None:
    """Each by its type; what is chosen among them is opened there."""
    asked = await asked_for(taking("email", "guests", "note", "size", "pin", "day"))
    told = [(field.id, field.type, field.options) for field in asked.question.fields]
    assert told == [
        ("email", "email", ()),
        ("guests", "number", ()),
        ("note", "textarea", ()),
        ("size", "select", ("S", "M", "L")),
        ("pin", "text", ()),
        ("day", "text", ()),
    ]
    assert [field.id for field in asked.question.fields if field.sensitive] == ["pin"]
    assert asked.question.title == "What is still needed"
    asked = await asked_for(taking("address", "email"))
    assert asked.question.title == "Shipping address and email"


async def test_what_is_filled_in_is_read() -> None:
    """Numbers as numbers, dates as they are written, choices by what they are called."""
    offered = taking("email", "guests", "size", "pin", "day", "pet", "price")
    given = {
        "email": " ada@example.com ",
        "guests": "3",
        "size": "m",
        "pin": {"sealed": "sealed_1"},
        "day": "3 March 2027",
        "pet": "no",
        "price": "20.50",
    }
    assert await answer(offered, given) == {
        "email": "ada@example.com",
        "guests": 3,
        "size": "M",
        "pin": {"sealed": "sealed_1"},
        "day": "2027-03-03",
        "pet": False,
        "price": "20.50",
    }


async def test_what_does_not_fit_is_asked_again() -> None:
    """That alone, with what is wrong next to it; the rest is kept."""
    offered = taking("email", "guests", "day", "address")
    given = {
        "email": "ada@example.com",
        "guests": "30",
        "day": "05/06/2027",
        "address.name": "Ada",
        "address.postal_code": "97x",
        "address.phone": "",
    }
    merged = await answer(offered, given)
    assert merged.arguments == {"email": "ada@example.com", "address": {"name": "Ada"}}
    told = {field.id: field.description for field in merged.again.question.fields}
    either = "05/06/2027 can be 5 June 2027 or 6 May 2027. Write which one you mean."
    assert told == {
        "guests": "The guests must be at most 9.",
        "day": f"{either} Such as 2026-03-01.",
        "address.postal_code": "The postal code is not in the required form. Five digits.",
        "address.phone": "The phone is needed.",
    }
    again = merge_answer(
        offered, merged.again, {**given, "guests": "no"}, merged.arguments, NOW
    ).again
    assert again is not None
    assert isinstance(again.question, Fill)
    (guests,) = [field for field in again.question.fields if field.id == "guests"]
    assert guests.description == "The guests must be a whole number from 1 to 9."


async def test_a_thing_counted() -> None:
    """A list of things gets what was chosen, and how many of each."""

    async def which(_arguments: Mapping[str, Any], _context: Context) -> Choose:
        choices = (
            Choice(id="tent", variants=(Choice(id="blue", value={"sku": "TE-001", "color": "b"}),)),
            Choice(id="MU-001"),
        )
        return Choose(title="Which?", choices=choices, many="counted")

    offered = taking("items", items=ArgumentPrompt(False, which))
    chosen = [{"id": "blue", "quantity": 2}, {"id": "MU-001", "quantity": 1}]
    assert await answer(offered, chosen) == {
        "items": [
            {"sku": "TE-001", "color": "b", "quantity": 2},
            {"sku": "MU-001", "quantity": 1},
        ]
    }
    merged = await answer(offered, [{"id": "MU-001", "quantity": 10}])
    assert merged.again.question.description == "The quantity must be at most 9."
    assert (await answer(offered, [{"id": "x"}])).again.question.description == (
        "The chosen option is not offered."
    )


async def test_a_list_that_is_chosen_whole() -> None:
    """A value that is a list gives all of it."""

    async def which(_arguments: Mapping[str, Any], _context: Context) -> Choose:
        return Choose(
            title="?", choices=(Choice(id="a", value=[{"sku": "AA-001", "quantity": 3}]),)
        )

    offered = taking("items", items=ArgumentPrompt(False, which))
    assert await answer(offered, [{"id": "a"}]) == {"items": [{"sku": "AA-001", "quantity": 3}]}


async def test_the_site_looks_at_what_is_there() -> None:
    """Where it says so; what it asks comes before what follows, and its None lets pass."""

    async def which(arguments: Mapping[str, Any], _context: Context) -> Choose | None:
        if arguments.get("size") == "M":
            return Choose(title="Really?", choices=(Choice(id="L"),))
        return None

    looks, does_not = ArgumentPrompt(True, which), ArgumentPrompt(False, which)
    known = {"size": "M", "email": "a@b"}
    asked = await asked_for(taking("size", "email", size=looks), known)
    assert (asked.question.title, asked.argument) == ("Really?", "size")
    assert await asked_for(taking("size", "email", size=does_not), known) is None
    assert await asked_for(taking("size", size=looks), {"size": "S"}) is None
    assert (await asked_for(taking("size", size=looks))).question.title == "Which size?"


async def test_what_fails_at_the_site_is_asked_by_the_schema() -> None:
    """Nobody waits for an answer that never comes."""

    async def which(_arguments: Mapping[str, Any], _context: Context) -> Choose:
        raise KeyError("x")

    asked = await asked_for(taking("size", size=ArgumentPrompt(True, which)))
    assert asked.question.title == "Which size?"


async def test_nothing_to_ask() -> None:
    """Where all is there, or what is missing is nothing that a question can ask for."""
    assert await asked_for(taking("size"), {"size": "M"}) is None
    assert await asked_for(taking("odd")) is None
    assert await asked_for(taking("items")) is None


async def test_what_words_leave_open() -> None:
    """Of two values it is asked which; what is wrong with one is said."""
    doubt = MissingArgument("size", options=("S", "L"))
    asked = await next_question(taking("size"), {}, CONTEXT, (doubt,))
    assert asked is not None
    assert isinstance(asked.question, Choose)
    assert [choice.id for choice in asked.question.choices] == ["S", "L"]
    wrong = MissingArgument("guests", problem="The guests must be at most 9.")
    asked = await next_question(taking("guests"), {}, CONTEXT, (wrong,))
    assert asked is not None
    assert isinstance(asked.question, Fill)
    assert asked.question.fields[0].description == "The guests must be at most 9."


async def test_what_the_action_refuses_is_asked_again() -> None:
    """The rule that only the whole can tell names the argument."""

    def read(arguments: Mapping[str, Any]) -> Any:
        if arguments["size"] == "M":
            raise InvalidRequest("There is no M.", param="size")
        return arguments

    offered = msgspec.structs.replace(taking("size", "email"), read=read)
    asked = await asked_for(offered, {"email": "a@b"})
    merged = merge_answer(offered, asked, [{"id": "M"}], {"email": "a@b"}, NOW)
    assert merged.arguments == {"email": "a@b"}
    assert merged.again is not None
    assert isinstance(merged.again.question, Choose)
    assert merged.again.question.description == "There is no M."


def test_a_refusal_of_something_earlier() -> None:
    """It is asked for by its schema; what no argument is to blame for is not."""
    offered = taking("size", "email")
    known = {"size": "M", "email": "a@b"}
    merged = make_correction_question(
        offered.action, None, known, InvalidRequest("Taken.", param="email")
    )
    assert merged is not None
    assert merged.again is not None
    assert merged.arguments == {"size": "M"}
    assert isinstance(merged.again.question, Fill)
    assert merged.again.question.fields[0].description == "Taken."
    assert make_correction_question(offered.action, None, known, InvalidRequest("No.")) is None
    assert (
        make_correction_question(offered.action, None, known, InvalidRequest("No.", param="x"))
        is None
    )


async def test_it_is_remembered() -> None:
    """As JSON, with what was asked for, so that words can answer it, too."""
    for offered in (taking("size"), taking("address"), taking("pet")):
        asked = await asked_for(offered)
        memory = msgspec.json.decode(msgspec.json.encode(write_memory(asked, {"a": 1})))
        assert read_asked(memory) == asked
        assert memory["arguments"] == {"a": 1}
    assert read_asked({"asked": [["size"]]}) is None
    assert read_asked(None) is None
    size = await asked_for(taking("size"))
    assert write_memory(size, {})["options"] == ["S", "M", "L"]
    assert write_memory(size, {})["asked"] == [["size"]]


async def test_an_answer_to_something_else() -> None:
    """It is a fault of a caller who carries it here."""
    asked = await asked_for(taking("size"))
    with pytest.raises(ValueError, match="Expected `array`"):
        merge_answer(taking("size"), asked, True, {}, NOW)


SCALARS = ("email", "guests", "size", "floor", "day", "pet", "note", "price")


@given(st.dictionaries(st.sampled_from(SCALARS), st.text(max_size=30)))
async def test_whatever_is_filled_in(given: dict[str, str]) -> None:
    """It is among the arguments or asked again, never both and never neither."""
    offered = taking(*SCALARS)
    fields = tuple(Field(id=name, required=True) for name in SCALARS)
    merged = merge_answer(offered, ArgumentQuestion(Fill(title="?", fields=fields)), given, {}, NOW)
    again = merged.again.question.fields if merged.again is not None else ()  # type: ignore[union-attr]
    left = {field.id for field in again}
    assert left | merged.arguments.keys() == set(SCALARS)
    assert not left & merged.arguments.keys()


ANSWERS: Mapping[str, Any] = {
    "email": "ada@example.com",
    "guests": "2",
    "size": "M",
    "floor": "2",
    "day": "2027-03-14",
    "pet": "yes",
    "note": "None.",
    "pin": {"sealed": "sealed_1"},
    "price": "9.50",
    "address.name": "Ada",
    "address.postal_code": "97701",
    "address.phone": "541 555 0137",
}


def fitting(asked: ArgumentQuestion) -> Any:
    """An answer to a question that fits."""
    match asked.question:
        case Confirm():
            return True
        case Choose(choices=choices):
            return [{"id": choices[-1].id, "quantity": 1}]
        case Fill(fields=fields):
            return {field.id: ANSWERS[field.id] for field in fields if field.required}
        case Pay():
            raise AssertionError("No argument is paid for.")


ASKABLE = (*SCALARS, "pin", "extras", "address")


@given(st.sets(st.sampled_from(ASKABLE), min_size=1), st.sets(st.sampled_from(ASKABLE)))
async def test_questions_come_to_an_end(needed: set[str], known: set[str]) -> None:
    """A caller who answers each has all that is needed, and is asked for nothing twice."""
    offered = taking(*sorted(needed, key=ASKABLE.index))
    arguments: Mapping[str, Any] = {name: WHOLE[name] for name in known & needed}
    answered: set[str] = set()
    while (asked := await asked_for(offered, arguments)) is not None:
        ids = {".".join(map(str, path)) for path in asked.paths}
        assert not ids & answered
        answered |= ids
        merged = merge_answer(offered, asked, fitting(asked), arguments, NOW)
        assert merged.again is None
        arguments = merged.arguments
    assert arguments.keys() == needed


WHOLE: Mapping[str, Any] = {
    "email": "ada@example.com",
    "guests": 2,
    "size": "M",
    "floor": 2,
    "day": "2027-03-14",
    "pet": True,
    "note": "None.",
    "pin": {"sealed": "sealed_1"},
    "price": "9.50",
    "extras": ["bag"],
    "address": {"name": "Ada", "postal_code": "97701", "phone": "541 555 0137"},
}
