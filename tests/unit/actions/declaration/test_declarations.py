"""A site declares its actions in Python: the outcome of a right one, and of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.actions.base import Caller, Context, OfferedAction
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import Config
from aitp_desk.model.calls.action import Example, Precondition, Related, Safety
from aitp_desk.model.errors import PreconditionFailed, Recovery
from tests.support.sites.declarations import ANYONE, HEAD, load, offered, problems

CONTEXT = Context("call_1", Caller("key:1"))

SHOP = '''
class Item(Struct):
    """An item of an order.

    Parameters:
        sku: what it is.
        quantity: how many of it.
    """

    sku: Annotated[str, Meta(pattern=r"^[A-Z]{2}-\\d{3}$")]
    quantity: Annotated[int, Meta(ge=1, le=99)] = 1

class Order(Struct):
    id: str
    total: Money

def price(items: list[Item]) -> Money | None:
    count = sum(item.quantity for item in items)
    return Money(Decimal(count), "EUR") if count > 1 else None

@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    reversible_within="P30D",
    confirmation_recommended=True,
    cost=price,
    deadline=5,
    idempotent=True,
    examples=["Order two mugs.", Example("One TS-001.", {"items": [{"sku": "TS-001"}]})],
    related=[Related("order", "/orders/{id}", "The order.")],
    says=lambda order: f"Your order is {order.id}.",
    from_text=lambda text: {"items": []} if "nothing" in text else None,
)
async def place_order(
    items: Annotated[list[Item], Meta(min_length=1)], context: Context, note: str = ""
) -> Order:
    """Places an order
    of some items.

    What is ordered can be given back.

    It is sent the next day.

    Args:
        items: what is ordered,
            at least one.
        note (str): for who packs it.

    Returns:
        The order.
    """
    context.note("email", "A mail was sent.")
    return Order(context.call_id, Money(Decimal("10.00"), "EUR"))

@place_order.requires(
    "in_stock", "Every item is in stock.", recovery="Ask for less.", actions=["stock"]
)
def in_stock(items: list[Item]) -> str | None:
    return "There are three." if any(item.quantity > 3 for item in items) else None

@place_order.requires("is_known", "The caller is known.")
async def is_known(context: Context) -> str | None:
    if context.caller.id == "key:2":
        raise PreconditionFailed("You are not.", recovery=Recovery("Sign in."))
    return None

@action(open_to="anyone")
def stock(sku: str) -> int:
    """How many there are."""
    return 3
'''


@pytest.fixture
def shop(tmp_path: Path) -> tuple[OfferedAction, ...]:
    return load(tmp_path, SHOP)


def test_a_declaration_says_all_of_an_action(shop: tuple[OfferedAction, ...]) -> None:
    order, stock = (each.action for each in shop)
    assert (order.name, order.kind, order.open_to) == ("place_order", "action", "actions")
    assert order.summary == "Places an order of some items."
    assert order.description == "What is ordered can be given back.\n\nIt is sent the next day."
    assert order.safety == Safety("reversible", "self", "P30D", confirmation_recommended=True)
    assert (order.cost, order.has_price, order.deadline_seconds) == (None, True, 5)
    assert order.is_idempotent
    assert order.answer_types == ("application/action-result", "text/answer")
    assert order.examples == (
        Example("Order two mugs."),
        Example("One TS-001.", {"items": [{"sku": "TS-001"}]}),
    )
    assert order.related == (Related("order", "/orders/{id}", "The order."),)
    assert order.preconditions == (
        Precondition("in_stock", "Every item is in stock."),
        Precondition("is_known", "The caller is known."),
    )
    assert (stock.kind, stock.open_to, stock.safety) == ("query", "anyone", Safety())
    assert stock.answer_types == ("application/data", "text/answer")


def test_the_schemas_come_from_the_types_and_the_docstrings(
    shop: tuple[OfferedAction, ...],
) -> None:
    order, _ = (each.action for each in shop)
    assert order.input_schema == {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "minItems": 1,
                "description": "what is ordered, at least one.",
                "items": {
                    "type": "object",
                    "description": "An item of an order.",
                    "properties": {
                        "sku": {
                            "type": "string",
                            "pattern": r"^[A-Z]{2}-\d{3}$",
                            "description": "what it is.",
                        },
                        "quantity": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": 99,
                            "default": 1,
                            "description": "how many of it.",
                        },
                    },
                    "required": ["sku"],
                    "additionalProperties": False,
                },
            },
            "note": {"type": "string", "default": "", "description": "for who packs it."},
        },
        "required": ["items"],
        "additionalProperties": False,
    }
    assert order.output_schema is not None
    assert order.output_schema["properties"]["id"] == {"type": "string"}
    assert order.output_schema["required"] == ["id", "total"]


async def test_a_call_gives_the_result_its_words_and_what_it_caused(
    shop: tuple[OfferedAction, ...],
) -> None:
    order, stock = shop
    context = Context("call_1", Caller("key:1"))
    done = await order.perform(order.read({"items": [{"sku": "TS-001"}]}), context)
    assert done.result == {"id": "call_1", "total": {"amount": "10.00", "currency": "EUR"}}
    assert done.text == "Your order is call_1."
    assert [(each.type, each.description) for each in done.side_effects] == [
        ("email", "A mail was sent.")
    ]
    assert (await stock.perform(stock.read({"sku": "TS-001"}), context)).result == 3


async def test_a_price_may_follow_from_the_arguments(shop: tuple[OfferedAction, ...]) -> None:
    order, stock = shop
    one = order.read({"items": [{"sku": "TS-001"}]})
    two = order.read({"items": [{"sku": "TS-001", "quantity": 2}]})
    assert await order.price(one, CONTEXT) is None
    assert str(await order.price(two, CONTEXT)) == "2 EUR"
    assert await stock.price(stock.read({"sku": "TS-001"}), CONTEXT) is None


async def test_a_price_may_be_text_as_a_fixed_cost_is(tmp_path: Path) -> None:
    (court,) = load(
        tmp_path,
        'def price(hours: int) -> str:\n    return f"{hours * 8}.00 EUR" if hours < 9 else "much"\n'
        '@action(cost=price)\ndef court(hours: int) -> int:\n    "Books."\n    return hours\n',
    )
    assert str(await court.price(court.read({"hours": 2}), CONTEXT)) == "16.00 EUR"
    assert await court.price(court.read({"hours": 0}), CONTEXT) is None
    with pytest.raises(TypeError, match="price returned neither Money, nor text"):
        await court.price(court.read({"hours": 9}), CONTEXT)


async def test_an_unmet_precondition_is_reported_with_what_helps(
    shop: tuple[OfferedAction, ...],
) -> None:
    order, _ = shop
    await order.check(order.read({"items": [{"sku": "TS-001"}]}), CONTEXT)
    with pytest.raises(PreconditionFailed) as refused:
        await order.check(order.read({"items": [{"sku": "TS-001", "quantity": 4}]}), CONTEXT)
    assert (refused.value.message, refused.value.param) == ("There are three.", "in_stock")
    assert refused.value.recovery == Recovery("Ask for less.", ("stock",))
    with pytest.raises(PreconditionFailed, match=r"You are not\.") as refused:
        await order.check(
            order.read({"items": [{"sku": "TS-001"}]}), Context("call_1", Caller("key:2"))
        )
    assert (refused.value.param, refused.value.recovery) == ("is_known", Recovery("Sign in."))


def test_arguments_may_be_read_from_words(shop: tuple[OfferedAction, ...]) -> None:
    order, stock = shop
    assert order.from_text is not None
    assert order.from_text("nothing") == {"items": []}
    assert order.from_text("two mugs") is None
    assert stock.from_text is None


def test_a_fixed_cost_is_written_in_words_or_as_money(tmp_path: Path) -> None:
    body = '''
@action(cost="29.99 EUR")
def report() -> str:
    """A report."""
    return "It is long."

@action(cost=Money(Decimal("5"), "USD"))
def summary() -> str:
    """A summary."""
    return "It is short."
'''
    report, summary = (each.action for each in load(tmp_path, body))
    assert str(report.cost) == "29.99 EUR"
    assert str(summary.cost) == "5 USD"
    assert not report.has_price


async def test_a_declared_function_is_still_a_function(tmp_path: Path) -> None:
    body = '''
@action
def one() -> int:
    """One."""
    return 1

@action
def two() -> int:
    """Two."""
    return one() + 1
'''
    _, two = load(tmp_path, body)
    assert (await two.perform(two.read({}), CONTEXT)).result == 2


async def test_a_function_may_have_been_wrapped_before(tmp_path: Path) -> None:
    body = '''
def twice(function):
    @wraps(function)
    def around(*args, **kwargs):
        return function(*args, **kwargs)
    return around

@action
@twice
async def one(count: int) -> int:
    """One."""
    return count
'''
    one = offered(tmp_path, body)
    assert (await one.perform(one.read({"count": 1}), CONTEXT)).result == 1
    (told,) = problems(tmp_path, body.replace(" -> int", ""))
    assert told.startswith(f"actions.py:{len(HEAD.splitlines()) + 8}, one: has no return type")


FINE = {
    "a duration of each kind": [
        f'@action(kind="action", mutability="reversible", blast_radius="self",'
        f' reversible_within="{duration}")\ndef f() -> int: "F."'
        for duration in ("P1Y2M3DT4H5M6S", "PT1H", "P2W", "PT0.5S", "P30D")
    ],
    "types that JSON has a form of": [
        f'@action\ndef f(a: {kind}) -> {kind}: "F."'
        for kind in (
            "str | None", "list[int]", "dict[str, float]", "tuple[int, str]", "set[str]",
            "Literal['a', 1, None]", "date", "Annotated[datetime, Meta(tz=True)]", "timedelta",
            "UUID", "Decimal", "bool | int", "Money",
        )
    ],
    "nothing as a result": ['@action\ndef f() -> None: "F."'],
    "a type of one's own": [
        '@action(answer_types=["x-shop/receipt", "text/answer"])\ndef f() -> int: "F."'
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", FINE)
def test_what_is_right_is_loaded(name: str, tmp_path: Path) -> None:
    for number, body in enumerate(FINE[name]):
        (tmp_path / str(number)).mkdir()
        assert offered(tmp_path / str(number), body).action.name == "f"


def test_parameters_may_be_called_as_words_of_json_schema_are(tmp_path: Path) -> None:
    names = ("enum", "anyOf", "items", "properties", "title", "default", "discriminator", "type")
    takes = ", ".join(f"{name}: Literal['b', 'a']" for name in names)
    action = offered(tmp_path, f'@action\ndef f({takes}) -> None: "F."').action
    assert action.input_schema["properties"] == {name: {"enum": ["b", "a"]} for name in names}


def test_an_object_that_is_used_twice_stands_once_in_a_schema(tmp_path: Path) -> None:
    body = '''
class Part(Struct):
    """A part.

    Parameters:
        price: of one.
    """

    price: Money

class Whole(Struct):
    """A whole.

    Parameters:
        total, paid: with tax.
    """

    part: Part
    total: Money
    paid: Money | None

@action
def f() -> Whole:
    "F."
'''
    schema = offered(tmp_path, body).action.output_schema
    assert schema is not None
    assert list(schema["$defs"]) == ["Money"]
    assert schema["$defs"]["Money"]["additionalProperties"] is False
    money = {"$ref": "#/$defs/Money"}
    part, total, paid = schema["properties"].values()
    assert part["properties"] == {"price": {**money, "description": "of one."}}
    assert total == {**money, "description": "with tax."}
    assert paid == {"anyOf": [money, {"type": "null"}], "description": "with tax."}


def test_docstrings_describe_the_members_of_objects_of_all_kinds(tmp_path: Path) -> None:
    body = '''
T = TypeVar("T")

class Box(Struct, Generic[T]):
    """A box.

    Attributes:
        what: in it.
    """
    what: T

@dataclass
class Point:
    """A point.

    Args:
        x: the way.
    """
    x: int

class Place(TypedDict):
    """A place.

    Attributes:
        at: the point.
    """
    at: Point

@action
def f(box: Box[int], place: Place) -> None:
    """F."""
'''
    members = offered(tmp_path, body).action.input_schema["properties"]
    assert members["box"]["description"] == "A box."
    assert members["box"]["properties"]["what"] == {"type": "integer", "description": "in it."}
    assert members["place"]["properties"]["at"]["description"] == "the point."
    point = members["place"]["properties"]["at"]["properties"]["x"]
    assert point == {"type": "integer", "description": "the way."}


def test_a_site_without_actions_has_none(tmp_path: Path) -> None:
    assert load_actions(Config(folder=tmp_path, data=tmp_path / ".desk")).offered == ()


def test_a_query_needs_the_scope_unless_it_is_opened(tmp_path: Path) -> None:
    assert offered(tmp_path, '@action\ndef f() -> int: "F."').action.open_to == "actions"
    assert load(tmp_path, f'{ANYONE}def f() -> int: "F."')[0].action.open_to == "anyone"
