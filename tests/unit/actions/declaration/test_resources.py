"""A site declares its resources: how one is read, and what can be done with it as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.actions.base import Caller, Context, OfferedResource
from aitp_desk.model.calls.action import Related
from aitp_desk.model.calls.resource import Affordance, PathTemplate, expand, is_segment
from aitp_desk.model.errors import InvalidRequest, ResourceNotFound
from tests.support.sites.declarations import problems, resources

CONTEXT = Context("call_1", Caller("key:1"))
SHOP = '''
class Order(Struct):
    number: int
    state: str
    customer_id: str | None = None
    total: Decimal = Decimal("9.50")

class Row(Order):
    card: str = "4111"

@action(kind="action", mutability="irreversible", blast_radius="self")
def cancel_order(order: int, reason: str = "") -> None:
    """Cancels an order."""

@action(kind="action", mutability="irreversible", blast_radius="self")
def pay_order(order: int, amount: Decimal) -> None:
    """Pays for an order."""

@resource(
    "/orders/{order}",
    related=[
        Related("customer", "/customers/{customer_id}", "Who ordered."),
        Related("parts", "/orders/{order}/parts"),
    ],
)
def order_of_shop(order: Annotated[int, Meta(ge=1)], context: Context) -> Order | None:
    """An order of a customer.

    It can be cancelled while it is open.

    Args:
        order: its number.
    """
    if order == 404:
        return None
    return Row(order, "open" if order < 10 else "sent", context.caller.id if order > 1 else None)

@order_of_shop.affords("cancel_order")
def can_be_cancelled(order: Order) -> bool:
    return order.state == "open"

@order_of_shop.affords("pay_order")
def can_be_paid(order: Order) -> dict[str, Any] | None:
    return {"amount": order.total} if order.number % 2 else None
'''


@pytest.fixture
def order(tmp_path: Path) -> OfferedResource:
    (only,) = resources(tmp_path, SHOP)
    return only


def test_a_declaration_says_all_of_a_type_of_resources(order: OfferedResource) -> None:
    type_ = order.type
    assert (type_.name, str(type_.template), type_.open_to) == (
        "order_of_shop",
        "/orders/{order}",
        "actions",
    )
    assert type_.summary == "An order of a customer."
    assert type_.description == "It can be cancelled while it is open."
    assert type_.input_schema["properties"] == {
        "order": {"type": "integer", "minimum": 1, "description": "its number."}
    }
    assert type_.output_schema["required"] == ["number", "state"]
    assert type_.affords == ("cancel_order", "pay_order")


async def test_a_resource_is_read_with_what_can_be_done_with_it_now(
    order: OfferedResource,
) -> None:
    found = await order.read({"order": "7"}, CONTEXT)
    assert (found.path, found.variables) == ("/orders/7", {"order": 7})
    assert found.data == {"number": 7, "state": "open", "customer_id": "key:1", "total": "9.50"}
    assert found.affordances == (
        Affordance("cancel_order", {}),
        Affordance("pay_order", {"amount": "9.50"}),
    )
    assert found.related == (
        Related("customer", "/customers/key%3A1", "Who ordered."),
        Related("parts", "/orders/7/parts"),
    )
    assert (await order.read({"order": "12"}, CONTEXT)).affordances == ()


async def test_a_link_whose_end_is_not_there_is_left_out(order: OfferedResource) -> None:
    assert [link.rel for link in (await order.read({"order": "1"}, CONTEXT)).related] == ["parts"]


async def test_a_resource_that_is_not_there_is_not_found(order: OfferedResource) -> None:
    with pytest.raises(ResourceNotFound):
        await order.read({"order": "404"}, CONTEXT)


@pytest.mark.parametrize("value", ["x", "0", "1.5", "", "..", "1 or 1=1"])
async def test_variables_are_read_by_their_types(value: str, order: OfferedResource) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await order.read({"order": value}, CONTEXT)
    assert (refused.value.param, refused.value.message) == (
        "order",
        "'order' must be a whole number of at least 1.",
    )


@pytest.mark.parametrize("value", ["", ".", "..", "a/b", "a\0"])
async def test_what_would_lead_elsewhere_is_at_no_address(value: str, tmp_path: Path) -> None:
    body = '@resource("/notes/{name}")\ndef note(name: str) -> str:\n    "N."\n    return name'
    (note,) = resources(tmp_path, body)
    with pytest.raises(ResourceNotFound):
        await note.read({"name": value}, CONTEXT)
    assert (await note.read({"name": "a..b c"}, CONTEXT)).path == "/notes/a..b%20c"


READ = '\ndef f(a: str) -> int: "F."\n'
WRONG = {
    "no path": ('@resource("orders")\ndef f() -> int: "F."', "has the path 'orders'; it must"),
    "a variable first": (f'@resource("/{{a}}"){READ}', "has the path '/{a}'; it must begin"),
    "a part of a segment": (f'@resource("/x/a-{{a}}"){READ}', "has the path '/x/a-{a}'; it must"),
    "a variable twice": (f'@resource("/x/{{a}}/{{a}}"){READ}', "has the path '/x/{a}/{a}'; it"),
    "a slash at the end": (f'@resource("/x/{{a}}/"){READ}', "has the path '/x/{a}/'; it must"),
    "a variable that is not taken": (
        f'@resource("/x/{{a}}/{{b}}"){READ}',
        "has {b} in its path but no such parameter; write b: str.",
    ),
    "a parameter that is no variable": (
        f'@resource("/x"){READ}',
        "takes 'a', which is not in its path /x; write {a} there.",
    ),
    "a default": (
        '@resource("/x/{a}")\ndef f(a: str = "") -> int: "F."',
        "has a default for 'a', which is always in the path; remove the default.",
    ),
    "another openness": (
        f'@resource("/x/{{a}}", open_to="all"){READ}',
        "has open_to='all'; it must be 'anyone', 'actions' or 'operators'.",
    ),
    "a wrong link": (
        f'@resource("/x/{{a}}", related=[Related("x", "ftp://x")]){READ}',
        "as related; it must be Related(rel, href)",
    ),
    "an address of the desk's own": (
        f'@resource("/v1/{{a}}"){READ}',
        "has the path /v1/{a}, which the desk uses itself; choose another.",
    ),
    "an address of another": (
        f'@resource("/x/new")\ndef g() -> int: "G."\n@resource("/x/{{a}}"){READ}',
        (
            "f: has the path /x/{a}, which matches the same addresses as /x/new of g. Change one"
            " of them."
        ),
    ),
    "the name of an action": (
        f'@action\ndef f() -> int: "F."\n@resource("/x/{{a}}"){READ}',
        "f: is declared twice; rename one of the two.",
    ),
    "what is not there as affordance": (
        f'@resource("/x/{{a}}"){READ}@f.affords("go")\ndef go(one: int) -> bool: ...',
        "affords 'go'; there is no such action.",
    ),
    "a condition that must be awaited": (
        (f'@action\ndef go() -> None: "G."\n@resource("/x/{{a}}"){READ}'
        '@f.affords("go")\nasync def can_go(one: int) -> bool: ...'),
        "affords 'go' by something other than a plain function; write def.",
    ),
    "a condition of more": (
        (f'@action\ndef go() -> None: "G."\n@resource("/x/{{a}}"){READ}'
        '@f.affords("go")\ndef can_go(one: int, two: int) -> bool: ...'),
        "affords 'go' by a function that takes more than the resource.",
    ),
    "no docstring": ('@resource("/x")\ndef f() -> int: ...', "has no docstring; write a line"),
    "no result": ('@resource("/x")\ndef f(): "F."', "has no return type; write ->"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_declaration_is_reported_with_a_correction(name: str, tmp_path: Path) -> None:
    body, expected = WRONG[name]
    (told,) = problems(tmp_path, body)
    assert expected in told


def test_for_an_affordance_of_a_wrong_action_only_the_action_is_reported(tmp_path: Path) -> None:
    body = (
        f'@action\ndef go(): "G."\n@resource("/x/{{a}}"){READ}'
        '@f.affords("go")\ndef can_go(one: int) -> bool: ...'
    )
    (told,) = problems(tmp_path, body)
    assert "go: has no return type" in told


@pytest.mark.parametrize("returned", ["1", "[]", "'yes'"])
async def test_a_condition_that_says_neither_yes_nor_no_is_a_fault(
    returned: str, tmp_path: Path
) -> None:
    body = (
        '@action\ndef go(a: str) -> None: "G."\n'
        '@resource("/x/{a}")\ndef f(a: str) -> int:\n    "F."\n    return 1\n'
        f'@f.affords("go")\ndef can_go(one: int) -> bool: return {returned}'
    )
    (found,) = resources(tmp_path, body)
    with pytest.raises(TypeError, match="can_go must return true, false or arguments of go"):
        await found.read({"a": "x"}, CONTEXT)


@dataclass
class Match:
    template: str
    path: str
    values: dict[str, str] | None


def test_a_path_is_matched_by_its_segments(subtests: pytest.Subtests) -> None:
    cases: list[Match] = [
        Match("/orders/{a}", "/orders/1", {"a": "1"}),
        Match("/orders/{a}", "/orders/a%20b", {"a": "a b"}),
        Match("/orders/{a}", "/orders/%252F", {"a": "%2F"}),
        Match("/orders/{a}", "/orders/a%2Fb", None),
        Match("/orders/{a}", "/orders/a%00", None),
        Match("/orders/{a}", "/orders/%FF", None),
        Match("/orders/{a}", "/orders/%4", None),
        Match("/orders/{a}", "/orders/a?b=1", None),
        Match("/orders/{a}", "/orders/\N{LATIN SMALL LETTER E WITH ACUTE}", None),
        Match("/orders/{a}", "orders/1", None),
        Match("/orders/{a}", "http:/orders/1", None),
        Match("/orders/{a}", "/orders/", None),
        Match("/orders/{a}", "/orders/%2E%2E", None),
        Match("/orders/{a}", "/orders/1/2", None),
        Match("/orders/{a}", "/order/1", None),
        Match("/orders/{a}/lines/{b}", "/orders/1/lines/2", {"a": "1", "b": "2"}),
        Match("/catalogue", "/catalogue", {}),
        Match("/catalogue", "/", None),
    ]
    for row in cases:
        with subtests.test(row=row):
            template = PathTemplate.parse(row.template)
            assert template is not None
            assert template.match(row.path) == row.values


@given(values=st.lists(st.text(), min_size=2, max_size=2))
def test_whatever_has_an_address_is_found_at_it(values: list[str]) -> None:
    template = PathTemplate.parse("/orders/{a}/lines/{b}")
    assert template is not None
    known = dict(zip("ab", values, strict=True))
    path = expand(str(template), known)
    assert (path is not None) == all(map(is_segment, values))
    if path is not None:
        assert path.isascii()
        assert template.match(path) == known


@given(path=st.text(st.sampled_from("/%.?#a0F2é\0"), max_size=24).map("/orders/".__add__))
def test_whatever_is_found_has_an_address(path: str) -> None:
    template = PathTemplate.parse("/orders/{a}")
    assert template is not None
    found = template.match(path)
    if found is not None:
        written = expand(str(template), found)
        assert written is not None
        assert template.match(written) == found
