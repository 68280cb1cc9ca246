"""Arguments are read strictly, by their types; a result is what its type says and no more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.actions.base import Caller, Context, OfferedAction
from aitp_desk.model.errors import InvalidRequest, MissingField
from tests.support.sites.declarations import load, offered

CONTEXT = Context("call_1", Caller())

EVERYTHING = '''
class Level(Enum):
    """How much."""
    low = "low"
    high = "high"

class Cat(Struct, tag=True):
    name: str

class Dog(Struct, tag="dog"):
    name: str
    puppies: list[Dog] = []

class Size(Struct, rename="camel"):
    """A size.

    Parameters:
        is_wide: whether it is wide.
    """

    in_cm: Annotated[float, Meta(gt=0, le=100, multiple_of=0.5)]
    is_wide: bool = False

class Item(Struct, forbid_unknown_fields=True):
    sku: Annotated[str, Meta(pattern=r"^[A-Z]{2}-\\d{3}$")]
    quantity: Annotated[int, Meta(ge=1, le=99)] = 1
    price: Decimal | None = None

@action
async def everything(
    items: Annotated[list[Item], Meta(min_length=1, max_length=3)],
    pet: Cat | Dog | None = None,
    size: Size | None = None,
    level: Level = Level.low,
    speed: Literal["slow", "fast", 3] = "slow",
    day: date | None = None,
    id: UUID | None = None,
    pair: tuple[int, str] = (1, "a"),
    counts: Annotated[dict[str, int], Meta(max_length=2)] = {},
    code: Annotated[str, Meta(min_length=2, max_length=5)] = "ab",
    at: Annotated[datetime, Meta(tz=True)] | None = None,
    notes: dict[Annotated[str, Meta(min_length=2)], str] = {},
    tags: set[str] = set(),
) -> dict[str, str]:
    """Takes everything."""
    return {}

@action
async def echo(
    item: Item, pet: Cat | Dog, size: Size, level: Level, day: date, amount: Decimal, tags: set[str]
) -> tuple[Item, Cat | Dog, Size, Level, date, Decimal, set[str]]:
    """Gives back what it takes."""
    return item, pet, size, level, day, amount, tags
'''
ITEMS = [{"sku": "AB-123"}]
QUANTITY = "'items[0].quantity' must be a whole number from 1 to 99."
DECIMAL = 'must be a decimal number written as text, such as "29.99"'

REFUSED: list[tuple[dict[str, Any], str | None, str]] = [
    ({}, "items", "The member 'items' is required; it must be a list of 1 to 3 entries."),
    ({"items": []}, "items", "'items' must be a list of 1 to 3 entries."),
    ({"items": None}, "items", "'items' must be a list of 1 to 3 entries."),
    (
        {"items": [{}]},
        "items[0].sku",
        "The member 'items[0].sku' is required; it must be text that",
    ),
    ({"items": [{"sku": "x"}]}, "items[0].sku", r"must be text that matches ^[A-Z]{2}-\d{3}$."),
    ({"items": [{"sku": "AB-123\n"}]}, "items[0].sku", "must be text that matches"),
    ({"items": [{"sku": "AB-12٣"}]}, "items[0].sku", "must be text that matches"),
    ({"items": [{"sku": "AB-123", "quantity": 0}]}, "items[0].quantity", QUANTITY),
    ({"items": [{"sku": "AB-123", "quantity": "1"}]}, "items[0].quantity", QUANTITY),
    ({"items": [{"sku": "AB-123", "quantity": 1.0}]}, "items[0].quantity", QUANTITY),
    ({"items": [{"sku": "AB-123", "quantity": True}]}, "items[0].quantity", QUANTITY),
    ({"items": [{"sku": "AB-123", "price": 1.1}]}, "items[0].price", f"{DECIMAL} or null."),
    ({"items": [{"sku": "AB-123", "price": 1}]}, "items[0].price", f"{DECIMAL} or null."),
    ({"items": [{"sku": "AB-123", "price": "NaN"}]}, "items[0].price", DECIMAL),
    ({"items": [{"sku": "AB-123", "price": "-Infinity"}]}, "items[0].price", DECIMAL),
    ({"items": [{"sku": "AB-123", "price": "much"}]}, "items[0].price", DECIMAL),
    (
        {"items": [{"sku": "AB-123", "qty": 1}]},
        "items[0].qty",
        "There is no member 'qty'; there are sku, quantity, price.",
    ),
    ({"items": ITEMS, "itmes": 1}, "itmes", "There is no member 'itmes'; there are items, pet,"),
    ({"items": ITEMS, "pet": 1}, "pet", "'pet' must be an object or null."),
    ({"items": ITEMS, "pet": {"name": "x"}}, "pet.type", "The member 'pet.type' is required; it"),
    ({"items": ITEMS, "pet": {"type": "cow", "name": "x"}}, "pet.type", 'must be "Cat" or "dog".'),
    (
        {"items": ITEMS, "pet": {"type": "dog", "name": "x", "colour": "red"}},
        "pet.colour",
        "There is no member 'colour'; there are type, name, puppies.",
    ),
    (
        {"items": ITEMS, "pet": {"type": "dog", "name": "x", "puppies": [{"name": 1}]}},
        "pet.puppies[0].name",
        "'pet.puppies[0].name' must be text.",
    ),
    (
        {"items": ITEMS, "size": {"inCm": 0}},
        "size.inCm",
        "must be a number of at most 100 above 0, a multiple of 0.5.",
    ),
    ({"items": ITEMS, "size": {"inCm": 0.7}}, "size.inCm", "a multiple of 0.5."),
    ({"items": ITEMS, "size": {"in_cm": 1}}, "size.inCm", "The member 'size.inCm' is required"),
    (
        {"items": ITEMS, "size": {"inCm": 1, "is_wide": True}},
        "size.is_wide",
        "There is no member 'is_wide'; there are inCm, isWide.",
    ),
    ({"items": ITEMS, "level": "mid"}, "level", '\'level\' must be "low" or "high".'),
    ({"items": ITEMS, "speed": 4}, "speed", '\'speed\' must be "slow" or "fast" or 3.'),
    ({"items": ITEMS, "day": "2026-13-01"}, "day", "must be a date such as 2026-03-01 or null."),
    ({"items": ITEMS, "id": "x"}, "id", "'id' must be a UUID or null."),
    ({"items": ITEMS, "pair": [1]}, "pair", "'pair' must be a list of exactly 2 entries."),
    ({"items": ITEMS, "pair": [1, 2]}, "pair[1]", "'pair[1]' must be text."),
    ({"items": ITEMS, "counts": {"a": "b"}}, "counts[...]", "must be a whole number."),
    (
        {"items": ITEMS, "counts": {"a": 1, "b": 2, "c": 3}},
        "counts",
        "must be an object of at most 2 members.",
    ),
    ({"items": ITEMS, "code": "a"}, "code", "'code' must be text of 2 to 5 characters."),
    ({"items": ITEMS, "at": "2026-03-01T10:00:00"}, "at", "a date and time such as 2026-03-01T09:"),
    (
        {"items": ITEMS, "notes": {"a": "b"}},
        "notes",
        "'notes' must have names that are text of at least 2",
    ),
    ({"items": ITEMS, "tags": ["a", "a"]}, "tags", "'tags' must be a list, each once."),
    ([], None, "The arguments must be an object."),  # type: ignore[list-item]
]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> OfferedAction:
    return load(tmp_path_factory.mktemp("site"), EVERYTHING)[0]


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> OfferedAction:
    return load(tmp_path_factory.mktemp("site"), EVERYTHING)[1]


def test_what_does_not_fit_is_reported_with_its_path_and_its_rule(
    everything: OfferedAction,
) -> None:
    for arguments, path, part in REFUSED:
        with pytest.raises(InvalidRequest) as refused:
            everything.read(arguments)
        assert (refused.value.param, part in refused.value.message) == (path, True), (
            arguments,
            refused.value.message,
        )
        assert isinstance(refused.value, MissingField) == ("is required" in part)


def test_a_refusal_repeats_nothing_that_was_sent_but_names(everything: OfferedAction) -> None:
    with pytest.raises(InvalidRequest) as refused:
        everything.read({"items": [{"sku": "my secret"}]})
    assert "secret" not in refused.value.message


def test_what_fits_is_read_by_its_types(everything: OfferedAction) -> None:
    read = everything.read(
        {"items": [{"sku": "AB-123", "price": "29.990"}], "day": "2026-03-01", "level": "high"}
    )
    assert str(read.items[0].price) == "29.990"
    assert read.day == date(2026, 3, 1)
    assert read.level.value == "high"


def values(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema describes."""
    if "$ref" in schema:
        return st.deferred(lambda: values(defs[schema["$ref"].rpartition("/")[2]], defs))
    if "anyOf" in schema:
        return st.one_of([values(each, defs) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum"), schema.get("maximum"))
        case "number":
            return st.integers(1, 200).map(lambda half: half / 2)
        case "string":
            return text(schema)
        case "array":
            if "prefixItems" in schema:
                return st.tuples(*(values(each, defs) for each in schema["prefixItems"])).map(list)
            low, high = schema.get("minItems", 0), schema.get("maxItems", 3)
            return st.lists(
                values(schema["items"], defs), min_size=low, max_size=high, unique_by=json.dumps
            )
        case _:
            own, required = schema.get("properties", {}), set(schema.get("required", ()))
            if not own:
                inner = values(schema["additionalProperties"], defs)
                names = values({"type": "string", **schema.get("propertyNames", {})}, defs)
                return st.dictionaries(names, inner, max_size=schema.get("maxProperties", 3))
            made = {name: values(each, defs) for name, each in own.items()}
            return st.fixed_dictionaries(
                {name: each for name, each in made.items() if name in required},
                optional={name: each for name, each in made.items() if name not in required},
            )


def text(schema: Mapping[str, Any]) -> st.SearchStrategy[str]:
    match schema.get("format"):
        case "date":
            return st.dates().map(str)
        case "uuid":
            return st.uuids().map(str)
        case "date-time":
            return st.datetimes().map(lambda at: f"{at.isoformat()}Z")
        case "decimal":
            return st.decimals(allow_nan=False, allow_infinity=False).map(str)
        case _ if "pattern" in schema:
            return st.from_regex(schema["pattern"].replace("$", r"\Z").replace(r"\d", "[0-9]"))
        case _:
            return st.text(min_size=schema.get("minLength", 0), max_size=schema.get("maxLength"))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(max_size=8)
    | st.sampled_from(["AB-123", "low", "dog", "1.5", "2026-03-01", 3, 1]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(
                ["items", "sku", "quantity", "pet", "type", "name", "size", "inCm", "$ref", "a.b`"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def is_described(action: OfferedAction, arguments: Any) -> bool:
    validator = jsonschema.Draft202012Validator(action.action.input_schema)
    return bool(validator.is_valid(arguments))


@given(data=st.data())
def test_whatever_its_schema_describes_is_read(
    everything: OfferedAction, data: st.DataObject
) -> None:
    schema = everything.action.input_schema
    arguments = data.draw(values(schema, schema.get("$defs", {})))
    assert is_described(everything, arguments)
    assert everything.read(arguments) is not None


@given(arguments=st.dictionaries(st.text(max_size=3), JSON, max_size=2) | JSON, rest=JSON)
def test_whatever_is_sent_is_read_or_refused_and_what_is_read_was_described(
    everything: OfferedAction, arguments: Any, rest: Any
) -> None:
    for sent in (arguments, {"items": ITEMS, "pet": rest, "size": arguments}, {"items": [rest]}):
        try:
            everything.read(sent)
        except InvalidRequest as refused:
            assert len(refused.message) < 400  # noqa: PT017
        else:
            assert is_described(everything, sent)


@given(data=st.data())
@settings(max_examples=20)
async def test_whatever_is_read_is_given_back_equal(
    echo: OfferedAction, data: st.DataObject
) -> None:
    schema = echo.action.input_schema
    arguments = data.draw(values(schema, schema.get("$defs", {})))
    read = echo.read(arguments)
    done = await echo.perform(read, CONTEXT)
    given = dict(
        zip(("item", "pet", "size", "level", "day", "amount", "tags"), done.result, strict=True)
    )
    assert echo.read(given) == read
    assert msgspec.json.decode(msgspec.json.encode(given)) == given
    assert echo.action.output_schema is not None
    jsonschema.Draft202012Validator(echo.action.output_schema).validate(done.result)


BROKEN = '''
class Order(Struct):
    id: Annotated[str, Meta(pattern="^ORD-[0-9]$")]
    total: Decimal = Decimal(1)

class Kept(Order):
    card_number: str = "4111"

@action
def broken(how: str) -> Order:
    """Gives back what it should not."""
    return {
        "more": Kept("ORD-1"),
        "row": {"id": "ORD-1", "card_number": "4111"},
        "pattern": Order("SECRET"),
        "line": Order("ORD-1\\n"),
        "missing": {},
        "nothing": None,
        "text": "SECRET",
        "nan": Order("ORD-1", Decimal("NaN")),
        "float": Order("ORD-1", 1.5),
        "object": object(),
    }[how]
'''


@pytest.mark.parametrize("how", ["more", "row"])
async def test_members_that_a_result_does_not_declare_are_left_out(
    how: str, tmp_path: Path
) -> None:
    broken = offered(tmp_path, BROKEN)
    done = await broken.perform(broken.read({"how": how}), CONTEXT)
    assert done.result == {"id": "ORD-1", "total": "1"}


@pytest.mark.parametrize(
    ("how", "path"),
    [
        ("pattern", "'id' must be text that matches ^ORD-[0-9]$"),
        ("line", "'id' must be text that matches ^ORD-[0-9]$"),
        ("missing", "The member 'id' is required"),
        ("nothing", "the result must be an object"),
        ("text", "the result must be an object"),
        ("nan", "'total' must be a decimal number"),
        ("float", "'total' must be a decimal number"),
        ("object", "the result must be an object"),
    ],
)
async def test_a_result_that_breaks_its_type_is_a_fault_and_is_repeated_nowhere(
    how: str, path: str, tmp_path: Path
) -> None:
    broken = offered(tmp_path, BROKEN)
    with pytest.raises(TypeError) as fault:
        await broken.perform(broken.read({"how": how}), CONTEXT)
    assert path in str(fault.value)
    assert "SECRET" not in str(fault.value)
    assert fault.value.__suppress_context__
