"""A site says how an argument is asked for: its outcome, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import Caller, Context
from aitp_desk.model.calls.question import Choice, Choose
from aitp_desk.model.errors import InvalidRequest
from tests.support.sites.declarations import offered, problems

CONTEXT = Context("call_1", Caller("key:1"))

ORDER = '''
class Item(Struct):
    sku: str
    quantity: int = 1

@action(kind="action", mutability="reversible", blast_radius="self")
def order(items: list[Item], store: Literal["Bend", "Boise"], gift: bool = False) -> None:
    """Orders."""
'''


async def ask(folder: Path, body: str, arguments: dict[str, Any]) -> Any:
    """What the declared function asks for items."""
    made = offered(folder, f"{ORDER}\n{body}").asks["items"]
    return await made.question(arguments, CONTEXT)


async def test_what_is_known_is_handed_over_as_its_type(tmp_path: Path) -> None:
    """What is not there is None, and so is what does not fit; a default stands."""
    body = """
@order.asks("items")
async def which(
    items: list[Item] | None, store: str | None, gift: bool | None, context: Context
) -> Choose | None:
    shown = f"{items!r} {store} {gift} {context.call_id}"
    return Choose(title=shown, choices=(Choice(id="a"), Choice(id="b")))
"""
    known = {"items": [{"sku": "TS-1", "quantity": 2}], "store": "Nowhere"}
    question = await ask(tmp_path, body, known)
    assert question == Choose(
        title="[Item(sku='TS-1', quantity=2)] None False call_1",
        choices=(Choice(id="a"), Choice(id="b")),
    )
    assert (await ask(tmp_path, body, {})).title == "None None False call_1"


async def test_whether_it_looks_at_an_argument_that_is_there(tmp_path: Path) -> None:
    """It does where it takes that one itself."""
    looks = "def which(items: list[Item] | None) -> Choose | None: return None"
    does_not = "def which(store: str | None) -> Choose | None: return None"
    for function, expected in ((looks, True), (does_not, False)):
        made = offered(tmp_path, f'{ORDER}\n@order.asks("items")\n{function}').asks["items"]
        assert made.looks is expected
        assert await made.question({}, CONTEXT) is None


async def test_what_the_function_refuses_is_reported(tmp_path: Path) -> None:
    """An error of the desk's own passes as it is."""
    body = '@order.asks("items")\ndef which() -> Choose: raise InvalidRequest("None left.")'
    with pytest.raises(InvalidRequest, match="None left"):
        await ask(tmp_path, body, {})


QUESTIONS = {
    "no question": ("return 3", "neither a question nor None"),
    "no choices": ('return Choose(title="?", choices=())', "without choices"),
    "no id": ('return Choose(title="?", choices=(Choice(id=""),))', "one that has no id"),
    "an id twice": (
        'return Choose(title="?", choices=(Choice(id="a", variants=(Choice(id="a"),)),))',
        "with two choices of the same id",
    ),
    "a title that is no text": (
        'return Choose(title=3, choices=(Choice(id="a"),))',
        "is not valid",
    ),
    "a form without fields": ('return Fill(title="?", fields=())', "not in 'items': none"),
    "a form about something else": (
        'return Fill(title="?", fields=(Field(id="store"),))',
        "not in 'items': store",
    ),
}


@pytest.mark.parametrize(("body", "wrong"), QUESTIONS.values(), ids=QUESTIONS.keys())
async def test_a_question_that_is_none(tmp_path: Path, body: str, wrong: str) -> None:
    """It is a fault of the site's own code, and says which."""
    with pytest.raises(TypeError, match=wrong):
        await ask(tmp_path, f'@order.asks("items")\ndef which():\n    {body}', {})


WRONG = {
    "an argument that is not there": (
        '@order.asks("size")\ndef which() -> Choose: ...',
        "asks for 'size', which is not a parameter; the parameters are items, store, gift.",
    ),
    "an argument twice": (
        """
@order.asks("store")
def one() -> Choose: ...
@order.asks("store")
def two() -> Choose: ...
""",
        "asks for 'store' twice; remove one of the functions.",
    ),
    "a parameter that is not the action's": (
        '@order.asks("store")\ndef which(size: str | None) -> Choose: ...',
        "has the question for 'store', which takes 'size'; it may take items, store, gift",
    ),
    "a parameter that is always there": (
        '@order.asks("store")\ndef which(items: list[Item]) -> Choose: ...',
        "which takes 'items' before it is known; write items: … | None.",
    ),
    "something else than a question": (
        '@order.asks("store")\ndef which() -> str: ...',
        "which returns no question; write -> Choose | None, or the like.",
    ),
    "no function": (
        'order.asks("store")(3)',
        "has no function as the question for 'store'; write one with def or async def.",
    ),
}


@pytest.mark.parametrize(("body", "told"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_declaration(tmp_path: Path, body: str, told: str) -> None:
    """It is reported when the desk starts."""
    assert told in "\n".join(problems(tmp_path, f"{ORDER}\n{body}"))
