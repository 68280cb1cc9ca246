"""Whatever is said, whatever the schema: what is filled keeps its rules, and nothing is raised."""

from __future__ import annotations

import copy
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from aitp_desk.agent.slots.base import FilledArguments
from aitp_desk.agent.slots.filler import fill_arguments
from aitp_desk.agent.slots.form.schema import read_form
from aitp_desk.agent.slots.replies.confirmation import write_confirmation
from aitp_desk.agent.slots.values.patterns import is_linear_time
from aitp_desk.desk.dialogue.consent import parse_answer
from aitp_desk.model.calls.action import Action
from tests.unit.agent.slots.rows.development import SEEN
from tests.unit.agent.slots.rows.shop import ACTIONS

NOW = datetime(2026, 11, 25, 10, 0, tzinfo=timezone(timedelta(hours=1)))

PIECES = sorted({piece for _, words, _, _ in SEEN for piece in words.split()})
WORDS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=14).map(" ".join)

SCALARS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "x-from-text": "rest", "minLength": 2, "maxLength": 20},
    {"type": "string", "pattern": r"^ORD-\d{6}$"},
    {"type": "string", "pattern": r"\d{2}"},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "decimal"},
    {"type": "integer", "minimum": 1, "maximum": 10, "multipleOf": 2},
    {"type": "number", "exclusiveMinimum": 0.5},
    {"type": ["integer", "null"]},
    {"type": "boolean"},
    {"enum": ["red", "blue", "M", 3, None]},
    {"enum": [1, 2, 3]},
    {"const": "red"},
    {"$ref": "#/nowhere"},
    {"$ref": "#"},
    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    {},
]
NAMES = st.sampled_from(["quantity", "size", "from", "to", "price", "order_id", "name", "items"])
SCHEMAS = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items, "maxItems": 3}, inner)
        | st.builds(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "required": sorted(properties)[:2],
            },
            st.dictionaries(NAMES, inner, max_size=4),
        )
    ),
    max_leaves=6,
)


def without_required(schema: Any) -> Any:
    """A schema that takes what is not complete yet."""
    if isinstance(schema, dict):
        return {name: without_required(it) for name, it in schema.items() if name != "required"}
    return [without_required(it) for it in schema] if isinstance(schema, list) else schema


@given(st.sampled_from(sorted(ACTIONS)), WORDS, WORDS)
def test_what_is_filled_keeps_the_schema(name: str, words: str, reply: str) -> None:
    action = ACTIONS[name]
    first = fill_arguments(action, words, now=NOW)
    second = fill_arguments(action, reply, now=NOW, before=first.memory)
    for filled in (first, second):
        schema = action.input_schema
        if filled.missing or filled.is_dropped:
            schema = without_required(schema)
            assert filled.is_dropped or filled.question.endswith(("?", "."))
        Draft202012Validator(schema).validate(filled.arguments)
        assert write_confirmation(action, filled.arguments, None).endswith("Shall I go ahead?")


@given(st.dictionaries(NAMES, SCHEMAS, max_size=5), WORDS)
def test_any_schema_is_read(properties: dict[str, Any], words: str) -> None:
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    action = Action(name="do_it", summary="Do it.", input_schema=schema)
    first = fill_arguments(action, words, now=NOW)
    second = fill_arguments(action, "2", now=NOW, before=first.memory)
    partial = without_required(schema)
    if "#/nowhere" not in str(schema):
        Draft202012Validator(partial).validate(first.arguments)
        Draft202012Validator(partial).validate(second.arguments)
    assert bool(first.missing) == bool(first.question)


@given(st.sampled_from(sorted(ACTIONS)), WORDS, WORDS)
def test_whatever_is_replied_only_a_yes_agrees(name: str, words: str, reply: str) -> None:
    action = ACTIONS[name]
    arguments = fill_arguments(action, words, now=NOW).arguments
    before = copy.deepcopy(arguments)
    answer = parse_answer(reply, action, arguments, NOW)
    assert answer is not True or reply.strip(' .!"“”').casefold() == "yes"
    assert arguments == before
    if isinstance(answer, FilledArguments):
        assert answer.missing or answer.arguments != before
        schema = without_required(action.input_schema)
        Draft202012Validator(schema).validate(answer.arguments)


ZONES = st.sampled_from(["Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "UTC"])
CHANGES = [date(2027, 3, 14), date(2027, 3, 28), date(2027, 4, 4), date(2027, 10, 3)]
DAYS = st.sampled_from([*CHANGES, date(2027, 10, 31), date(2027, 11, 7), date(2027, 6, 1)])


@given(ZONES, DAYS, st.integers(0, 23), st.integers(0, 59))
def test_a_time_is_what_a_clock_of_the_site_shows(
    name: str, day: date, hour: int, minute: int
) -> None:
    zone, said = ZoneInfo(name), f"{day.isoformat()} at {hour:02}:{minute:02}"
    filled = fill_arguments(ACTIONS["call"], said, now=datetime(2027, 1, 15, 9, tzinfo=zone))
    clock = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
    offsets = [timedelta(minutes=minutes) for minutes in range(14 * 60, -13 * 60, -30)]
    moments = [(clock - offset).astimezone(zone) for offset in offsets]
    shown = [one.isoformat() for one in moments if one.replace(tzinfo=UTC) == clock]
    if len(shown) == 1:
        assert filled.arguments == {"starts_at": shown[0]}
    else:
        assert [list(missing.options) for missing in filled.missing] == [shown]


def test_a_schema_that_holds_itself_is_read_to_some_depth() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}},
    }
    fields = read_form({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    assert 3 < len(fields) < 20


def test_only_patterns_that_repeat_what_repeats_are_refused() -> None:
    swift = [r"^ORD-\d{6}$", r"(?:TS|MUG)-\d+", r"(?:\d{1,3}\.){3}\d{1,3}", r"[(+*]+", r"\(a+\)+"]
    slow = [r"^(a+)+$", r"(a|a)*", r"(?:a*b?)*", r"((ab)*c){2,}", r"(\w+\s?)+"]
    assert [pattern for pattern in swift if not is_linear_time(pattern)] == []
    assert [pattern for pattern in slow if is_linear_time(pattern)] == []
