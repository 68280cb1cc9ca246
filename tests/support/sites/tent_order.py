"""An order of the example shop's that comes about by answering what it asks, whichever way.

Answerers read and write words, post messages or press buttons: what stands on the thread
in the end reads the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.support.clients.threads import THREADS
from tests.support.sites.shop import TENT, Shopper

ASKING = ("capabilities.requests.remind_after=0", "capabilities.data.open_for=3600")
"""Settings with which the shop asks by capabilities."""
ADDRESS = {
    "address.name": "Kai Moss",
    "address.street": "12 Elm Street",
    "address.city": "Boise",
    "address.state": "ID",
    "address.postal_code": "83702",
    "email": "kai@customer.example",
}
"""What the shop's form for an address is filled in with, by the ids of its fields."""
BEGIN = "I'd like the Larkspur 2 tent"
READER = {
    "id": "https://buyer.example",
    "capabilities": [{"schema": "aitp.dev/requests"}, {"schema": "aitp.dev/data"}],
}
"""An actor that reads all messages as they are."""
IN_WORDS = """
Name: Kai Moss
Street: 12 Elm Street
City: Boise
State: ID
Postal code: 83702
Email: kai@customer.example
"""
SURE = (
    "Places an order that is sent to an address: items 2 × TO-2201-LAKE; name “Kai Moss”; street"
    " “12 Elm Street”; city “Boise”; state ID; postal code 83702; email kai@customer.example. It"
    " can be undone within 30 days. It costs 739.88 USD. Shall I go ahead?"
)
DONE = """Order TH… to Boise, ID is placed.
2 × Tarn Larkspur 2 Tent, Lake blue (TO-2201-LAKE) at $349.00: $698.00
Shipping, standard: free
Total with tax: $739.88
The items are set aside in the warehouse.
An adult has to sign for it at the door."""
STORY: list[tuple[Any, ...]] = [
    ("user", "says", BEGIN),
    ("assistant", "asks", "Which Tarn Larkspur 2 Tent?", ["Sage", "Lake blue"]),
    ("user", "chooses", [(f"{TENT}-LAKE", 2)]),
    (
        "assistant",
        "asks",
        "Address and email",
        [*(id for id in ADDRESS if id != "email"), "address.extra", "email"],
    ),
    ("user", "fills in", ADDRESS),
    ("assistant", "asks", SURE, ["Yes", "No"]),
    ("user", "chooses", [("yes", 1)]),
    ("assistant", "says", DONE),
]
"""What stands on the thread in the end, whichever way it came about."""

_NUMBER = re.compile(r"TH\d{8}")


def message(slug: str, **content: Any) -> str:
    """A structured message of AITP, as a part of a message."""
    return json.dumps({"$schema": f"aitp.dev/{slug}", **content})


def structured(content: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The messages of capabilities among the parts of a message."""
    for text in content:
        if text.startswith('{"$schema"'):
            yield json.loads(text)


def story(messages: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """What was asked, answered and told on a thread, whichever way that came about.

    Parameters:
        messages: of the thread, the oldest first, as a reader sees them who has declared all
            capabilities.

    Returns:
        For each message who said it and what it is. Ids of requests and numbers of orders are left
        out, and so are words next to the message which they mean.
    """
    return [(one["role"], *_told(one["content"])) for one in messages]


def _told(content: Sequence[str]) -> tuple[Any, ...]:
    said = list(structured(content))
    if not said:
        return ("says", _NUMBER.sub("TH…", "\n".join(content)))
    (only,) = said
    match only:
        case {"request_decision": {"title": title, "options": options}}:
            return ("asks", title, [option["name"] for option in options])
        case {"request_data": {"title": title, "form": {"fields": fields}}}:
            return ("asks", title, [field["id"] for field in fields])
        case {"decision": {"options": options}}:
            return ("chooses", [(option["id"], option.get("quantity", 1)) for option in options])
        case {"data": {"fields": fields}}:
            return ("fills in", {field["id"]: field["value"] for field in fields})
        case _:
            raise AssertionError(only)


async def join(shopper: Shopper, thread: str) -> None:
    """Have an actor on a thread that reads all messages as they are."""
    (await shopper.talker.send("POST", f"{THREADS}/{thread}/actors", READER)).ok  # noqa: B018


async def answer(shopper: Shopper, thread: str) -> None:
    """Answer all that is asked on a thread, by messages."""
    tents = [{"id": f"{TENT}-LAKE", "quantity": 2}]
    fields = [{"id": id, "value": value} for id, value in ADDRESS.items()]
    for said in (
        message("requests", decision={"options": tents}),
        message("data", data={"fields": fields}),
        message("requests", decision={"options": [{"id": "yes"}]}),
    ):
        (await shopper.talker.post(thread, said, wait=10)).ok  # noqa: B018


async def read(shopper: Shopper, thread: str) -> list[dict[str, Any]]:
    """All that stands on a thread."""
    listed = (await shopper.talker.messages(thread, "?order=asc&limit=100")).ok
    data: list[dict[str, Any]] = listed["data"]
    return data


def check_order(shopper: Shopper) -> None:
    """What was ordered is in the shop's own books, once."""
    assert shopper.rows("SELECT sku, quantity FROM order_lines WHERE order_id > 'TH10482317'") == [
        (f"{TENT}-LAKE", 2)
    ]
    ((*address, service, price),) = shopper.rows("SELECT * FROM parcels")
    told = ADDRESS
    assert address[1:] == [
        told["address.name"],
        told["address.street"],
        "",
        told["address.city"],
        told["address.state"],
        told["address.postal_code"],
    ]
    assert (service, price) == ("standard", "0.00")
    assert shopper.count(f"{TENT}-LAKE", "warehouse") == 8
