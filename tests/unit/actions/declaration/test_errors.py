"""A wrong declaration is reported when the desk starts, with its place and a correction."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.actions.faults import ActionsError
from tests.support.sites.declarations import HEAD, load, problems

WRONG = {
    "no docstring": (
        "@action\ndef f() -> int: return 1",
        "f: has no docstring; write a line for callers that says what it does.",
    ),
    "a long summary": (
        f'@action\ndef f() -> int:\n    """{"long " * 60}"""',
        "has a docstring whose first paragraph has 299 characters; write one of at most 256",
    ),
    "a parameter that is described and not there": (
        '@action\ndef f(a: int) -> int:\n    """F.\n\n    Args:\n        b: what?\n    """',
        "describes 'b', which is not a parameter; remove it or rename it.",
    ),
    "no type": (
        '@action\ndef f(a) -> int: "F."',
        "has no type for 'a'; write one, such as a: str.",
    ),
    "no result": (
        '@action\ndef f(a: int): "F."',
        "has no return type; write -> and the type, or -> None.",
    ),
    "a type that could be anything": (
        '@action\ndef f(a: dict) -> int: "F."',
        "takes 'a' of a type that callers cannot send: names of an object's members must be text",
    ),
    "Any": (
        '@action\ndef f(a: list[Any]) -> int: "F."',
        "takes 'a' of a type that callers cannot send: could be anything; write str, int",
    ),
    "bytes": (
        '@action\ndef f(a: bytes) -> int: "F."',
        "takes 'a' of a type that callers cannot send: bytes has no form in JSON",
    ),
    "a class of one's own": (
        'class Thing: pass\n@action\ndef f() -> Thing: "F."',
        "returns a type that cannot be sent to callers: Thing has no form in JSON; write",
    ),
    "a type within a Struct": (
        'class Box(Struct):\n    what: Any\n@action\ndef f() -> Box: "F."',
        "returns a type that cannot be sent to callers: could be anything",
    ),
    "two kinds of text": (
        '@action\ndef f(a: str | Decimal) -> int: "F."',
        "takes 'a' of a type that callers cannot send: Type unions may not contain more than one",
    ),
    "bounds that no number keeps": (
        '@action\ndef f(a: Annotated[int, Meta(ge=9, le=1)]) -> int: "F."',
        "takes 'a' of a type that callers cannot send: bounds that no value satisfies: ge=9, le=1",
    ),
    "bounds between two numbers": (
        '@action\ndef f(a: Annotated[int, Meta(gt=5, lt=9, multiple_of=5)]) -> int: "F."',
        "bounds that no value satisfies: gt=5, lt=9, multiple_of=5; change them",
    ),
    "bounds that meet and are left out": (
        '@action\ndef f(a: list[Annotated[float, Meta(ge=1, lt=1)]]) -> int: "F."',
        "bounds that no value satisfies: ge=1, lt=1",
    ),
    "lengths that nothing has": (
        '@action\ndef f() -> Annotated[list[int], Meta(min_length=2, max_length=1)]: "F."',
        "callers: bounds that no value satisfies: min_length=2, max_length=1",
    ),
    "a link with a variable of nothing": (
        '@action(related=[Related("o", "/orders/{order_id}")])\ndef f(a: str) -> int: "F."',
        "has {order_id} in its related '/orders/{order_id}', which is not a text or number of",
    ),
    "a link with a variable that is a list": (
        '@action(related=[Related("o", "/orders/{ids}")])\ndef f(ids: list[str]) -> int: "F."',
        "which is not a text or number of the arguments or the result.",
    ),
    "a link of a resource with a variable of nothing": (
        '@resource("/a/{b}", related=[Related("c", "/c/{d}")])\ndef f(b: str) -> int: "F."',
        "'/c/{d}', which is not a text or number of the path or the resource; there is b.",
    ),
    "a time without a zone": (
        '@action\ndef f(a: list[datetime]) -> int: "F."',
        "a time without its zone; write Annotated[datetime, Meta(tz=True)], or date, or str.",
    ),
    "a pattern of Python's own": (
        '@action\ndef f(a: Annotated[str, Meta(pattern=r"\\Ax")]) -> int: "F."',
        r"pattern \Ax is not valid in JSON Schema; write ^ for \A",
    ),
    "a type that is not known": (
        '@action\ndef f(a: Itme) -> int: "F."',
        "has an unknown type (name 'Itme' is not defined)",
    ),
    "a type within a Struct that is not known": (
        'class Box(Struct):\n    what: Itme\n@action\ndef f() -> Box: "F."',
        "returns a type that cannot be sent to callers: name 'Itme' is not defined",
    ),
    "a pattern that is none": (
        '@action\ndef f(a: "Annotated[str, Meta(pattern=\'(\')]") -> int: "F."',
        "has a type that cannot be read (missing ), unterminated subpattern",
    ),
    "a pattern within a Struct that is none": (
        (
            "class Box(Struct):\n    what: \"Annotated[str, Meta(pattern='(')]\"\n"
            '@action\ndef f() -> Box: "F."'
        ),
        "returns a type that cannot be sent to callers: missing ), unterminated subpattern",
    ),
    "a type that its module has not": (
        '@action\ndef f(a: "msgspec.Nothing") -> int: "F."\nimport msgspec',
        "has a type that cannot be read (module 'msgspec' has no attribute 'Nothing')",
    ),
    "a precondition's type that its module has not": (
        (
            '@action\ndef f(a: int) -> int: "F."\nimport msgspec\n'
            '@f.requires("is_open", "It is open.")\n'
            'def one(a: "msgspec.Nothing") -> str | None: ...'
        ),
        "has the precondition 'is_open' with a type that cannot be read: module 'msgspec'",
    ),
    "what is no type": (
        '@action\ndef f(a: "1 +") -> int: "F."',
        "has a type that cannot be read",
    ),
    "any number of arguments": (
        '@action\ndef f(*a: int) -> int: "F."',
        "takes any number of arguments as 'a'; write each parameter with its type.",
    ),
    "arguments by place": (
        '@action\ndef f(a: int, /) -> int: "F."',
        "takes 'a' by position only; remove the /",
    ),
    "two contexts": (
        '@action\ndef f(a: Context, b: Context) -> int: "F."',
        "takes the Context twice; remove 'b'.",
    ),
    "a private parameter": (
        '@action\ndef f(_confirm: int) -> int: "F."',
        "has the parameter '_confirm'; its name must begin with a letter.",
    ),
    "a default of another type": (
        '@action\ndef f(a: int = "x") -> int: "F."',
        "has a default for 'a' that is not of its type",
    ),
    "None by default": (
        '@action\ndef f(a: int = None) -> int: "F."',
        "has the default None for 'a', which its type does not allow; write … | None.",
    ),
    "a default that can change": (
        '@action\ndef f(a: list[int] = [1]) -> int: "F."',
        "has a mutable default for 'a'; write None, or a tuple.",
    ),
    "a Struct as default that can change": (
        'class Item(Struct):\n    a: int\n@action\ndef f(a: Item = Item(1)) -> int: "F."',
        "cannot be declared like this: ",
    ),
    "a generator": (
        '@action\ndef f() -> Iterator[int]:\n    "F."\n    yield 1',
        "yields its results one by one; return them as a list.",
    ),
    "a name that cannot be told": (
        '@action\ndef placeOrder() -> int: "F."',
        "placeOrder: has an invalid name; use at most 64 lowercase letters",
    ),
    "another kind": (
        '@action(kind="quary")\ndef f() -> int: "F."',
        "has kind='quary'; it must be 'query', 'action' or 'async'.",
    ),
    "an action without safety": (
        '@action(kind="action")\ndef f() -> int: "F."',
        (
            "has kind='action' but no mutability; write mutability= with 'read_only',"
            " 'reversible' or 'irreversible'."
        ),
        (
            "has kind='action' but no blast_radius; write blast_radius= with 'self',"
            " 'self_and_associated', 'many' or 'all'."
        ),
    ),
    "an async without a blast radius": (
        '@action(kind="async", mutability="irreversible")\nasync def f() -> int: "F."',
        "has kind='async' but no blast_radius",
    ),
    "a query that changes something": (
        '@action(mutability="reversible")\ndef f() -> int: "F."',
        (
            "is a query, which changes nothing, but has mutability='reversible'; write"
            ' kind="action".'
        ),
    ),
    "another mutability": (
        '@action(kind="action", mutability="some", blast_radius="self")\ndef f() -> int: "F."',
        "has mutability='some'; it must be 'read_only', 'reversible' or 'irreversible'.",
    ),
    "an action that is open to anyone": (
        (
            '@action(kind="action", mutability="reversible", blast_radius="self", open_to="anyone")'
            '\ndef f() -> int: "F."'
        ),
        "has kind='action' and is open to anyone, which only a query or what is prepaid may be;",
    ),
    "a time to undo what cannot be undone": (
        (
            '@action(kind="action", mutability="irreversible", blast_radius="self",'
            ' reversible_within="P1D")\ndef f() -> int: "F."'
        ),
        'has reversible_within, which requires mutability="reversible".',
    ),
    "a time to undo that is none": (
        (
            '@action(kind="action", mutability="reversible", blast_radius="self",'
            ' reversible_within="30 days")\ndef f() -> int: "F."'
        ),
        "has reversible_within='30 days'; it must be an ISO 8601 duration such as P30D.",
    ),
    "a cost that is none": (
        '@action(cost="a lot")\ndef f() -> int: "F."',
        "has cost='a lot'; it must be an amount above 0 such as \"29.99 EUR\".",
    ),
    "the approval of something that is over within its call": (
        (
            '@action(kind="action", mutability="reversible", blast_radius="self", approval=True)\n'
            'def f() -> int: "F."'
        ),
        (
            "has kind='action' and needs a person's approval, for which the caller waits; write"
            ' kind="async".'
        ),
    ),
    "an approval that is none": (
        (
            '@action(kind="async", mutability="reversible", blast_radius="self", approval="boss")\n'
            'def f() -> int: "F."'
        ),
        (
            "has approval='boss'; it must be True, or a function of some of the parameters that"
            " returns true or false."
        ),
    ),
    "an approval of what is no parameter": (
        (
            "def large(b: int) -> bool: ...\n"
            '@action(kind="async", mutability="reversible", blast_radius="self", approval=large)\n'
            'def f(a: int) -> int: "F."'
        ),
        "has its approval, which takes 'b'; it may take a, and the Context.",
    ),
    "an approval that is a number": (
        (
            "def large(a: int) -> int: ...\n"
            '@action(kind="async", mutability="reversible", blast_radius="self", approval=large)\n'
            'def f(a: int) -> int: "F."'
        ),
        "has an approval function that does not return true or false; write -> bool.",
    ),
    "a cost of nothing": (
        '@action(cost="0.00 EUR")\ndef f() -> int: "F."',
        "has cost='0.00 EUR'; it must be an amount above 0",
    ),
    "a price of what is not taken": (
        'def price(b: int) -> Money: ...\n@action(cost=price)\ndef f(a: int) -> int: "F."',
        "has its cost, which takes 'b'; it may take a, and the Context.",
    ),
    "no deadline": (
        '@action(deadline=0)\ndef f() -> int: "F."',
        "has deadline=0; it must be a number of seconds up to 86400.",
    ),
    "an unknown type of answer": (
        '@action(answer_types=["text/plain"])\ndef f() -> int: "F."',
        "has the answer type 'text/plain'; it must be 'text/answer',",
    ),
    "no type of answer": (
        '@action(answer_types=[])\ndef f() -> int: "F."',
        "has no answer types; write 'text/answer',",
    ),
    "one example that is no list": (
        '@action(examples="How many?")\ndef f() -> int: "F."',
        "has examples='How many?'; it must be a list.",
    ),
    "one type of answer that is no list": (
        '@action(answer_types="text/answer")\ndef f() -> int: "F."',
        "has answer_types='text/answer'; it must be a list.",
    ),
    "one link that is no list": (
        '@action(related=Related("order", "/orders"))\ndef f() -> int: "F."',
        "it must be a list.",
    ),
    "an enum that JSON has no form of": (
        'class Size(Enum):\n    small = (1, 2)\n@action\ndef f(size: Size) -> int: "F."',
        "takes 'size' of a type that callers cannot send: Enums must contain either all str or",
    ),
    "an empty example": (
        '@action(examples=[""])\ndef f() -> int: "F."',
        "has the example ''; it must be text, or Example(text, arguments).",
    ),
    "an example that would be refused": (
        '@action(examples=[Example("One.", {"a": "1"})])\ndef f(a: int) -> int: "F."',
        "would refuse the arguments of its example 'One.': 'a' must be a whole number.",
    ),
    "what is related to nothing": (
        '@action(related=["/orders"])\ndef f() -> int: "F."',
        "has '/orders' as related; it must be Related(rel, href)",
    ),
    "words that must be awaited": (
        'async def say(one): ...\n@action(says=say)\ndef f() -> int: "F."',
        "has says=say; it must be a plain function",
    ),
    "a ticket for which nobody may wait": (
        '@action(says=str)\ndef f() -> Ticket: "F."',
        'returns a Ticket, which people answer later; write kind="async".',
        "returns a Ticket and has says=, but people write the result. Remove says=.",
    ),
    "a ticket or something else": (
        (
            '@action(kind="async", mutability="read_only", blast_radius="self")\n'
            'def f() -> int | Ticket: "F."'
        ),
        "returns a Ticket or another type; write -> Ticket alone.",
    ),
    "a precondition that is true or false": (
        (
            '@action\ndef f(a: int) -> int: "F."\n'
            '@f.requires("is_open", "It is open.")\ndef is_open(a: int) -> bool: ...'
        ),
        "has the precondition 'is_open', which returns true or false; return None if it is met,",
    ),
    "a precondition of what is not taken": (
        (
            '@action\ndef f(a: int) -> int: "F."\n'
            '@f.requires("is_open", "It is open.")\ndef is_open(b: int) -> str | None: ...'
        ),
        "has the precondition 'is_open', which takes 'b'; it may take a, and the Context.",
    ),
    "two preconditions of a name": (
        (
            '@action\ndef f() -> int: "F."\n'
            '@f.requires("is_open", "It is open.")\ndef one() -> str | None: ...\n'
            '@f.requires("is_open", "It is open.")\ndef two() -> str | None: ...'
        ),
        "has the precondition 'is_open' twice; give one of them another name.",
    ),
    "a precondition without words": (
        '@action\ndef f() -> int: "F."\n@f.requires("Is open", "")\ndef one() -> str | None: ...',
        "has the precondition 'Is open'; its name must have lowercase letters, digits and _",
        "has the precondition 'Is open' without a description; describe the condition",
    ),
    "a recovery by an action that is not there": (
        (
            '@action\ndef f() -> int: "F."\n'
            '@f.requires("is_open", "It is open.", actions=["open_it"])\n'
            "def one() -> str | None: ..."
        ),
        "recommends 'open_it' if 'is_open' is not met, but there is no such action.",
        (
            "has the precondition 'is_open', which names actions that help; explain in recovery="
            " how they help."
        ),
    ),
    "a name that stands twice": (
        '@action\ndef f() -> int: "F."\n@action\ndef f() -> int: "F."',
        "f: is declared twice; rename one of the two.",
    ),
    "a name of the desk's own": (
        '@action\ndef contact() -> int: "F."',
        "contact: has the name of one of the desk's own actions; rename it.",
    ),
    "what is no function": (
        '@action\nclass f: "F."',
        "raised TypeError: only a function can be declared: def or async def.",
    ),
    "a term that there is not": (
        '@action(scope="x")\ndef f() -> int: "F."',
        "raised TypeError: action() got an unexpected keyword argument 'scope'.",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_declaration_is_reported_with_its_place_and_a_correction(
    name: str, tmp_path: Path
) -> None:
    body, *expected = WRONG[name]
    told = problems(tmp_path, body)
    assert len(told) == len(expected), told
    for message, part in zip(told, expected, strict=True):
        assert part in message
    line = len(HEAD.splitlines()) + 1
    places = [
        int(message.partition(":")[2].partition(",")[0].partition(":")[0]) for message in told
    ]
    assert all(message.startswith("actions.py:") for message in told)
    assert all(line <= place <= line + body.count("\n") for place in places)


def test_all_errors_are_reported_together(tmp_path: Path) -> None:
    bodies = [body.replace("f(", f"f{n}(") for n, (body, *_) in enumerate(WRONG.values())][:3]
    assert len(problems(tmp_path, "\n".join(bodies))) == 3


def test_nothing_is_loaded_where_anything_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ActionsError):
        load(tmp_path, '@action\ndef good() -> int: "F."\n@action\ndef bad(): "F."')


def test_links_and_bounds_that_something_keeps_are_taken(tmp_path: Path) -> None:
    load(
        tmp_path,
        """
class Order(Struct):
    id: str
    customer: str | None
    at: Annotated[int, Meta(ge=3, le=3)]
    weight: Annotated[float, Meta(gt=1, lt=1.5)]

@action(related=[Related("order", "/orders/{id}"), Related("c", "/customers/{customer}")])
def find(words: Annotated[str, Meta(min_length=1, max_length=1)]) -> Order | None: "Finds."

@action(related=[Related("any", "/any/{of_them}")])
def count(step: Annotated[int, Meta(gt=5, le=10, multiple_of=5)]) -> dict[str, int]: "Counts."

@resource("/orders/{id}", related=[Related("self", "/orders/{id}/of/{customer}")])
def order(id: str) -> Order | None: "An order."
""",
    )
