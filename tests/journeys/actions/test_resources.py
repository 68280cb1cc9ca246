"""Resources are read at the desk: by callers who may, with what they may do with them now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aitp_desk.actions.faults import ActionsError
from aitp_desk.actions.registry import open_sources
from aitp_desk.config import load_config
from aitp_desk.desk.calls import executor as performing
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.model.calls.action import DATA, Related
from aitp_desk.model.errors import (
    DeskError,
    InternalError,
    InvalidRequest,
    NotAuthenticated,
    ResourceNotFound,
    ScopeMissing,
    Unavailable,
)
from aitp_desk.store.reads.audit_log import audit_rows
from tests.journeys.openapi.test_actions import make_site as make_described_site
from tests.support.clients.ahp import Visitor
from tests.support.clients.resources import reader
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import serving
from tests.support.doubles.mcp_server import serving_tools
from tests.support.doubles.openapi_service import serving_api
from tests.support.sites.declarations import HEAD

BOOKINGS = '''
import asyncio

class Booking(Struct):
    id: int
    state: str
    desk_notes: str = ""
    late: str | None = None

class Kept(Booking):
    card: str = "4111"

def price(booking_id: int, seats: int) -> Money:
    return Money(seats * Decimal("5.00"), "EUR")

@action(kind="action", mutability="reversible", blast_radius="self", reversible_within="P3D",
        cost=price, related=[Related("booking", "/bookings/{booking_id}", "The booking"),
                             Related("terms", "https://lamps.example/terms/{nothing}")])
def add_seats(booking_id: int, seats: Annotated[int, Meta(ge=1, le=9)]) -> dict[str, int]:
    """Adds seats."""
    return {"seats": seats}

@action(kind="action", mutability="irreversible", blast_radius="self")
def cancel(booking_id: int, reason: str = "") -> None:
    """Cancels."""

@cancel.requires("is_early", "It is not tomorrow's.")
def is_early(booking_id: int) -> str | None:
    return "It is too late." if booking_id == 2 else None

@action(kind="action", mutability="irreversible", blast_radius="many", open_to="operators")
def wipe(booking_id: int) -> None:
    """Wipes."""

@action(open_to="anyone")
def look(booking_id: int, at: str) -> str:
    """Looks."""
    return at

@action(open_to="anyone", cost=lambda booking_id: 1 / 0)
def fail(booking_id: int) -> str:
    """Fails."""
    return ""

@resource("/bookings/{booking_id}", related=[
    Related("ledger", "/ledger/{id}"), Related("next", "/bookings/{booking_id}/{late}"),
    Related("home", "https://lamps.example/b/{id}")])
async def booking(booking_id: int, context: Context) -> Booking | None:
    """A booking."""
    if booking_id == 13:
        raise ValueError("the secret reason")
    if booking_id == 14:
        await asyncio.Event().wait()
    return None if booking_id == 404 else Kept(booking_id, "open" if booking_id < 9 else "over")

@resource("/ledger/{entry}", open_to="operators")
def ledger(entry: int) -> int:
    """An entry."""
    return entry

@resource("/hours", open_to="anyone")
def hours() -> str:
    """When it is open."""
    return "9 to 17"

@booking.affords("cancel")
def is_open(booking: Booking) -> bool:
    return booking.state == "open"

@booking.affords("add_seats")
def has_seats(booking: Booking) -> dict[str, Any] | None:
    return {"seats": 0 if booking.id == 5 else 2} if booking.state == "open" else None

@booking.affords("fail")
def is_last(booking: Booking) -> bool:
    return booking.id == 8

@booking.affords("look")
@booking.affords("wipe")
def always(booking: Booking) -> bool:
    return True
'''


def make_site(folder: Path, body: str = BOOKINGS) -> Path:
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", "utf-8")
    (site / "desk.toml").touch()
    (site / "actions.py").write_text(HEAD + body, "utf-8")
    return site


async def refusal(talk: Talker, path: str, *scopes: str) -> DeskError:
    with pytest.raises(DeskError) as refused:
        await (await reader(talk, *scopes)).read(path)
    return refused.value


async def test_a_resource_says_what_its_reader_may_do_with_it_now(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer, operator = await reader(talker, "actions"), await reader(talker, "operator")
        view = await buyer.read("/bookings/%37")
        assert (view.type.name, view.path) == ("booking", "/bookings/7")
        assert view.data == {"id": 7, "state": "open", "desk_notes": "", "late": None}
        assert view.related == (Related("home", "https://lamps.example/b/7"),)
        named = {one.action.name: one for one in view.actions}
        assert list(named) == ["cancel", "add_seats", "look"]
        assert dict(named["cancel"].arguments) == {"booking_id": 7}
        assert named["cancel"].action.safety.mutability == "irreversible"
        assert named["cancel"].cost is None
        assert dict(named["add_seats"].arguments) == {"booking_id": 7, "seats": 2}
        assert str(named["add_seats"].cost) == "10.00 EUR"
        assert named["add_seats"].action.safety.reversible_within == "P3D"

        # by its state, its arguments, its preconditions, and who reads
        assert list(await buyer.actions("/bookings/2")) == ["add_seats", "look"]
        assert list(await buyer.actions("/bookings/5")) == ["cancel", "look"]
        assert list(await buyer.actions("/bookings/8")) == ["cancel", "add_seats", "look"]
        assert list(await buyer.actions("/bookings/9")) == ["look"]
        one_only = await reader(talker, "actions:booking", "actions:cancel")
        assert list(await one_only.actions("/bookings/7")) == ["cancel", "look"]
        assert list(await operator.actions("/bookings/9")) == ["wipe", "look"]
        assert [link.rel for link in (await operator.read("/bookings/9")).related] == [
            *("ledger", "home"),
        ]
        for who, may in (
            (buyer, ["booking", "hours"]),
            (operator, ["booking", "ledger", "hours"]),
            (await reader(talker), ["hours"]),
        ):
            assert who.types == may


async def test_who_may_not_read_is_refused_and_so_is_what_is_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performing, "DEADLINE_SECONDS", 0.05)
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        nobody = await refusal(talker, "/bookings/7")
        assert isinstance(nobody, NotAuthenticated)
        threads = await refusal(talker, "/bookings/7", "threads")
        assert isinstance(threads, ScopeMissing)
        assert threads.scope == "actions:booking"
        assert threads.message == (
            "Your credential does not open /bookings/{booking_id}. Use one with the scope"
            " 'actions:booking'."
        )
        ledger = await refusal(talker, "/ledger/1", "actions")
        assert isinstance(ledger, ScopeMissing)
        assert ledger.scope == "operator"
        for path in (
            *("/", "", "/bookings", "/bookings/", "/bookings/7/", "/bookings//7", "bookings/7"),
            *("/bookings/.", "/bookings/..", "/bookings/%2e%2E", "/bookings/7%2F8"),
            *("/bookings/7%00", "/bookings/%FF", "/bookings/7?x=1", "/hours#x", "/bookings/404"),
        ):
            assert isinstance(await refusal(talker, path, "actions"), ResourceNotFound), path
        for path in ("/bookings/x", "/bookings/%2537", "/bookings/7%20", "/bookings/1.5"):
            wrong = await refusal(talker, path, "actions")
            assert isinstance(wrong, InvalidRequest), path
            assert (wrong.param, wrong.message) == (
                "booking_id",
                "'booking_id' must be a whole number.",
            )
        failed = await refusal(talker, "/bookings/13", "actions")
        assert isinstance(failed, InternalError)
        assert "secret" not in failed.message
        late = await refusal(talker, "/bookings/14", "actions")
        assert isinstance(late, Unavailable)
        assert late.message == "booking could not be read within 0.05 seconds."


async def test_a_reading_is_noted_with_who_read_and_not_with_the_address(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer = await reader(talker, "actions")
        for path in ("/bookings/7", "/bookings/%37", "/bookings/404", "/bookings/x"):
            try:
                await buyer.read(path)
            except (ResourceNotFound, InvalidRequest):
                continue
        noted = [
            row async for row in audit_rows(talker.desk.store) if row.action == "resource.read"
        ]
        assert [row.outcome for row in noted] == ["done", "done", "failed"]
        assert {(row.principal, row.proven_by) for row in noted} == {
            (buyer.principal.id, "api_key")
        }
        one, again, other = (row.object for row in noted)
        assert one == again != other
        assert "bookings" not in one + other


async def test_the_result_of_an_action_leads_to_its_resources(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer = await talker.with_key("actions")
        visitor = Visitor(talker.desk, talker.http)
        given = {"booking_id": 7, "seats": 2, "_confirm": {"amount": "10.00", "currency": "EUR"}}
        said = await visitor.ask(
            json.dumps(given), "add_seats", headers=buyer.credentials, accept_types=[DATA]
        )
        assert said.body["response"]["sources"] == [
            {
                "title": "The booking",
                "url": f"{talker.desk.desk.site.url}/bookings/7",
                "relevance": "indirect",
            }
        ]


AFFORDING = '''
@resource("/lamps/{sku}", open_to="anyone")
def lamp(sku: str) -> dict[str, str]:
    """A lamp."""
    return {"name": "Moon"}

@lamp.affords("NAME")
def always(lamp: dict[str, str]) -> bool:
    return True
'''


async def test_resources_afford_operations_of_a_service(tmp_path: Path) -> None:
    async with serving_api() as service:
        site = make_described_site(tmp_path, f"{service.url}/api")
        actions = site / "actions.py"
        actions.write_text(HEAD + AFFORDING.replace("NAME", "get_stock"), "utf-8")
        async with talking(tmp_path, site=site) as talker:
            nobody = await reader(talker)
            assert await nobody.actions("/lamps/AB-1") == {"get_stock": {"sku": "AB-1"}}
            assert await nobody.actions("/lamps/unfit") == {}
        assert service.got == []
        actions.write_text(HEAD + AFFORDING.replace("NAME", "get_stick"), "utf-8")
        with pytest.raises(ActionsError, match="lamp: affords 'get_stick'; there is no such"):
            async with serving(tmp_path / "other", folder=site):
                pytest.fail("it has started")


@pytest.mark.slow
async def test_resources_afford_tools_of_a_server(tmp_path: Path) -> None:
    site = make_site(tmp_path, AFFORDING.replace("NAME", "shop_get_stock"))
    async with serving_tools() as url:
        settings = (
            f'[[mcp]]\nname = "shop"\nprefix = "shop_"\ntools = ["get_stock"]\nurl = "{url}"\n'
        )
        (site / "desk.toml").write_text(settings, "utf-8")
        async with talking(tmp_path, site=site) as talker:
            buyer = await reader(talker, "actions")
            assert await buyer.actions("/lamps/AB-1") == {"shop_get_stock": {"sku": "AB-1"}}
            assert await (await reader(talker)).actions("/lamps/AB-1") == {}
        (site / "actions.py").write_text(
            HEAD + AFFORDING.replace("NAME", "shop_get_stick"), "utf-8"
        )
        async with open_sources(load_config(site), {}, OWN_NAMES) as offers:
            assert offers.notes() == (
                "The resource lamp affords 'shop_get_stick', but no server has such a tool.",
            )
