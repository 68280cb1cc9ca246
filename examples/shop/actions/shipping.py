"""Shipping orders from the warehouse to an address."""

from __future__ import annotations

import re
import sqlite3
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import Choose, Context, Example, Money, action

from .choosing import choose_items, read_parcel, variants_of
from .database import changing, reading
from .order_lines import keep_lines
from .orders import Email, Order, Service, add_order, order_of, order_of_call, tell_order
from .pricing import CustomerType, Item, Line, dollars, price_items, quantities, total, total_of
from .quotes import Items
from .rules import rule
from .stock import WAREHOUSE, take, why_short

State = Literal[
    "AL",
    "AK",
    "AZ",
    "AR",
    "CA",
    "CO",
    "CT",
    "DE",
    "DC",
    "FL",
    "GA",
    "HI",
    "ID",
    "IL",
    "IN",
    "IA",
    "KS",
    "KY",
    "LA",
    "ME",
    "MD",
    "MA",
    "MI",
    "MN",
    "MS",
    "MO",
    "MT",
    "NE",
    "NV",
    "NH",
    "NJ",
    "NM",
    "NY",
    "NC",
    "ND",
    "OH",
    "OK",
    "OR",
    "PA",
    "RI",
    "SC",
    "SD",
    "TN",
    "TX",
    "UT",
    "VT",
    "VA",
    "WA",
    "WV",
    "WI",
    "WY",
]
_PO_BOX = re.compile(r"\bp\.? ?o\.? ?box\b", re.IGNORECASE)


def _text(autocomplete: str, most: int) -> Meta:
    """Return the type of an address line, with its form title and maximum length."""
    tokens = {"autocomplete": autocomplete}
    return Meta(min_length=1, max_length=most, extra_json_schema=tokens)


class Address(Struct, frozen=True):
    """An address in the United States.

    Parameters:
        name: who gets it.
        street: with its number, or a PO box.
        postal_code: the ZIP code, of five digits.
        extra: an apartment, a company.
    """

    name: Annotated[str, _text("name", 100)]
    street: Annotated[str, _text("address-line1", 100)]
    city: Annotated[str, _text("address-level2", 60)]
    state: Annotated[State, Meta(extra_json_schema={"autocomplete": "address-level1"})]
    postal_code: Annotated[
        str,
        Meta(pattern=r"^\d{5}(-\d{4})?$", extra_json_schema={"autocomplete": "postal-code"}),
    ]
    extra: Annotated[
        str, Meta(max_length=100, extra_json_schema={"autocomplete": "address-line2"})
    ] = ""


def parcel_price(
    items: Items,
    address: Address,
    service: Service,
    customer_type: CustomerType,
    context: Context,
) -> Money:
    with reading(context.now) as shop:
        lines = _lines(shop, items, address, customer_type)
        return total([total_of(lines), _shipping(shop, lines, address, service)])


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    reversible_within="P30D",
    confirmation_recommended=True,
    cost=parcel_price,
    idempotent=True,
    says=tell_order,
    from_text=read_parcel,
    examples=[
        Example(
            "Send a Pika stove to Kai Moss, 12 Elm Street, Boise, ID 83702; kai@customer.example.",
            {
                "items": [{"sku": "TO-5103"}],
                "address": {
                    "name": "Kai Moss",
                    "street": "12 Elm Street",
                    "city": "Boise",
                    "state": "ID",
                    "postal_code": "83702",
                },
                "email": "kai@customer.example",
            },
        )
    ],
)
def ship_order(
    items: Items,
    address: Address,
    email: Email,
    context: Context,
    service: Service = "standard",
    customer_type: CustomerType = "standard",
) -> Order:
    """Places an order that is sent to an address.

    It is paid by the link in a mail before it leaves the warehouse. It can be cancelled until it is
    packed, and for 30 days at most. Standard takes 3 to 5 business days and is free from 75 dollars
    in the lower 48 states; express takes 2 and overnight one. place_order has things set aside in a
    store instead.

    Args:
        items: what is ordered; of what comes in colors or sizes by the number of one of them.
        address: where it is sent.
        email: a mail address for the link; with the order's number it opens the order.
        service: how it is sent.
        customer_type: for the discount; a proof is asked for by mail.
    """
    with changing(context.now) as shop:
        if order_of_call(shop, context.call_id) is None:
            for sku, count in quantities(shop, items).items():
                take(shop, sku, WAREHOUSE, count)
            number = add_order(shop, context, email, None)
            lines = _lines(shop, items, address, customer_type)
            keep_lines(shop, number, lines)
            price = _shipping(shop, lines, address, service).amount
            shop.execute(
                "INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    address.name,
                    address.street,
                    address.extra,
                    address.city,
                    address.state,
                    address.postal_code,
                    service,
                    str(price),
                ),
            )
        order = order_of(shop, order_of_call(shop, context.call_id), context.now)
        context.note("stock", "The items are set aside in the warehouse.")
        if order.total.amount > Decimal(rule(shop, "signature_above")):
            context.note("parcel", "An adult has to sign for it at the door.")
        return order


@ship_order.requires(
    "is_chosen",
    "Choose a color or size of each item that has several.",
    recovery="Name the number of one of them, such as TO-2201-SAGE; /catalog/TO-2201 lists all.",
)
def is_chosen(items: Items, context: Context) -> str | None:
    with reading(context.now) as shop:
        for item in items:
            if rows := variants_of(shop, item.sku):
                numbers = ", ".join(row["sku"] for row in rows[:_MOST_NAMED])
                more = " and others" if len(rows) > _MOST_NAMED else ""
                return f"{item.sku} has several variants: {numbers}{more}."
    return None


@ship_order.requires(
    "in_stock",
    "The warehouse has all items.",
    recovery="Order fewer pieces, or ask which store has them.",
    actions=["inventory_check", "place_order"],
)
def in_stock(items: Items, context: Context) -> str | None:
    with reading(context.now) as shop:
        return why_short(shop, quantities(shop, items), WAREHOUSE)


@ship_order.requires(
    "is_served",
    "This service is available at the address.",
    recovery="Choose standard shipping.",
)
def is_served(address: Address, service: Service, context: Context) -> str | None:
    with reading(context.now) as shop:
        if _rate(shop, address, service) is None:
            return f"We do not ship to {address.state} by {service} shipping."
    if service != "standard" and _PO_BOX.search(address.street):
        return f"We do not ship to PO boxes by {service} shipping."
    return None


@ship_order.asks("items")
def which_items(items: list[Item] | None, context: Context) -> Choose | None:
    with reading(context.now) as shop:
        return choose_items(shop, items, (WAREHOUSE,))


_MOST_NAMED = 6


def _lines(
    shop: sqlite3.Connection, items: Items, address: Address, customer_type: CustomerType
) -> list[Line]:
    """Price the items, with the sales tax of the destination."""
    state = shop.execute("SELECT sales_tax FROM states WHERE code = ?", (address.state,)).fetchone()
    return price_items(shop, items, customer_type, Decimal(state["sales_tax"]))


def _shipping(
    shop: sqlite3.Connection, lines: list[Line], address: Address, service: Service
) -> Money:
    """Return the price of shipping; standard shipping is free above an amount."""
    row = _rate(shop, address, service)
    if row is None:
        return dollars(Decimal(0))  # this is refused by is_served
    goods = total(line.amount for line in lines)
    is_enough = goods.amount >= Decimal(rule(shop, "shipping_free_from"))
    if is_enough and service == "standard" and row["zone"] == "lower 48":
        return dollars(Decimal("0.00"))
    return dollars(Decimal(row["price"]))


def _rate(shop: sqlite3.Connection, address: Address, service: Service) -> sqlite3.Row | None:
    row: sqlite3.Row | None = shop.execute(
        "SELECT zone, price FROM shipping_rates JOIN states USING (zone)"
        " WHERE code = ? AND service = ?",
        (address.state, service),
    ).fetchone()
    return row
