"""What docs/actions*.md declare can be loaded and does what the pages say."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.loader.loader import Actions, load_actions
from aitp_desk.desk.dialogue.next_question import merge_answer, next_question
from aitp_desk.model.calls.question import Choose
from aitp_desk.model.calls.resource import Affordance
from aitp_desk.model.errors import PreconditionFailed
from tests.docs.snippets import ROOT, blocks
from tests.support.clients.resources import reader
from tests.support.clients.threads import talking
from tests.support.sites.declarations import problems, site

CONTEXT = Context("call_1", Caller())


def code_blocks() -> list[str]:
    """The python blocks of the pages on actions, in order."""
    return [
        block.code
        for page in ("actions.md", "actions-input.md")
        for block in blocks(ROOT / "docs/build" / page)
        if block.language == "python"
    ]


def declared_by(number: int, folder: Path) -> Actions:
    """What the python block of this number declares."""
    (folder / "actions.py").write_text(code_blocks()[number], "utf-8")
    return load_actions(site(folder))


def test_the_first_example(tmp_path: Path) -> None:
    (stock,) = declared_by(0, tmp_path).offered
    assert stock.action.is_open
    assert stock.action.description.startswith("Counted every night;")
    assert stock.action.input_schema["properties"]["store"]["anyOf"][0] == {
        "enum": ["Bend", "Boise"]
    }


async def test_the_example_of_an_action(tmp_path: Path) -> None:
    (place_order,) = declared_by(1, tmp_path).offered
    two = place_order.read({"items": [{"sku": "TS-001", "quantity": 2}]})
    assert str(await place_order.price(two, CONTEXT)) == "19.00 EUR"
    done = await place_order.perform(two, CONTEXT)
    assert done.text == "Your order is ORD-call_1."
    with pytest.raises(PreconditionFailed, match="There are only three of TS-001"):
        await place_order.check(
            place_order.read({"items": [{"sku": "TS-001", "quantity": 4}]}), CONTEXT
        )


async def test_the_example_of_an_approval(tmp_path: Path) -> None:
    (refund,) = declared_by(2, tmp_path).offered
    assert refund.action.approval == "sometimes"
    for amount, needed in ((100, False), (101, True)):
        asked = refund.read({"order_id": "TH10482201", "amount": amount})
        assert await refund.needs_approval(asked, CONTEXT) is needed


async def test_the_example_of_what_is_paid_first(tmp_path: Path) -> None:
    (translate,) = declared_by(3, tmp_path).offered
    assert translate.action.is_prepaid
    assert str(translate.action.cost) == "0.05 EUR"
    done = await translate.perform(translate.read({"word": "desk"}), CONTEXT)
    assert done.result == "mensa"


async def test_the_example_of_asking(tmp_path: Path) -> None:
    (reserve,) = declared_by(6, tmp_path).offered
    asked = await next_question(reserve, {"days": 2}, CONTEXT)
    assert asked is not None
    assert isinstance(asked.question, Choose)
    assert [choice.name for choice in asked.question.choices] == ["Blue", "Green"]
    merged = merge_answer(
        reserve, asked, [{"id": "TE-002", "quantity": 2}], {"days": 2}, datetime.now(UTC)
    )
    assert merged.arguments == {"days": 2, "tents": [{"sku": "TE-002", "quantity": 2}]}


def test_the_example_of_a_secret(tmp_path: Path) -> None:
    (change,) = declared_by(7, tmp_path).offered
    value = change.read({"account": "aya", "password": "correct horse"})
    assert value.password.reveal() == "correct horse"
    assert "horse" not in repr(value)


async def test_the_example_of_a_resource(tmp_path: Path) -> None:
    (booking,) = declared_by(4, tmp_path).resources
    one, two = [await booking.read({"booking_id": id}, CONTEXT) for id in ("B-1", "B-2")]
    assert one.affordances == (Affordance("cancel_booking", {}),)
    assert two.affordances == ()
    assert [link.href for link in one.related] == ["/customers/C-7"]


async def test_a_resource_is_read_as_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared, reads = code_blocks()[4:6]
    code: dict[str, Any] = {}
    exec(reads, code)
    (tmp_path / "desk.toml").touch()
    (tmp_path / "actions.py").write_text(declared, "utf-8")
    async with talking(tmp_path, site=tmp_path) as talker:
        who = (await reader(talker, "actions")).principal
        capsys.readouterr()
        await code["look"](talker.desk.desk, who)
    shown = [
        block.code
        for block in blocks(ROOT / "docs/build/actions.md")
        if block.language == "text" and "/bookings/" in block.code
    ]
    assert [capsys.readouterr().out] == shown


def test_the_messages_that_the_page_shows_are_those_that_are_told(tmp_path: Path) -> None:
    (shown,) = [
        block.code.splitlines()
        for block in blocks(ROOT / "docs/build/actions.md")
        if block.language == "text" and "actions.py" in block.code
    ]
    told = problems(
        tmp_path,
        '@action(kind="action", blast_radius="self")\ndef place_order(items) -> None: "P."',
    )
    assert [line.partition(": ")[2] for line in told] == [line.partition(": ")[2] for line in shown]
