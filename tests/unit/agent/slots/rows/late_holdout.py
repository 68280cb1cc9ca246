"""Words and what they say, written when the code was done; rows read as in :mod:`.holdout`."""

from __future__ import annotations

from typing import Any

FRESH: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "cancel",
        "Hi there, could you please cancel my order? The number is ORD-123456. Thanks a lot!",
        {"order_id": "ORD-123456"},
        "",
    ),
    (
        "cancel",
        "I ordered ORD-123456 yesterday at 3pm and want to cancel because the colour is wrong",
        {"order_id": "ORD-123456"},
        "",
    ),
    (
        "cancel",
        "On behalf of my user: cancel_order(order_id='ORD-123456', reason='duplicate')",
        {"order_id": "ORD-123456", "reason": "duplicate"},
        "",
    ),
    ("cancel", "Cancel ORD-123456; keep ORD-654321", {}, "order_id=ORD-123456|ORD-654321"),
    (
        "cancel",
        "order_id: ORD-123456\nreason: found it cheaper",
        {"order_id": "ORD-123456", "reason": "found it cheaper"},
        "",
    ),
    (
        "stock",
        "Do you still have any TS-014s left in your Portland shop?",
        {"store": "portland"},
        "sku",
    ),
    ("stock", "What about MUG-12?", {"sku": "MUG-12"}, ""),
    ("stock", "check sku=TS-014&store=bend", {"sku": "TS-014", "store": "bend"}, ""),
    (
        "quote",
        "We are a school and need 120 TS-014 and 60 MUG-12 by next month",
        {
            "items": [{"sku": "TS-014", "quantity": 120}, {"sku": "MUG-12", "quantity": 60}],
            "customer_type": "school",
        },
        "",
    ),
    ("quote", "How much for ten TS-014?", {"items": [{"sku": "TS-014", "quantity": 10}]}, ""),
    (
        "quote",
        "I need a quote: TS-014 (5 pcs), MUG-12 (10 pcs), express delivery",
        {
            "items": [{"sku": "TS-014", "quantity": 5}, {"sku": "MUG-12", "quantity": 10}],
            "shipping": "express",
        },
        "",
    ),
    (
        "quote",
        "- 3 TS-014\n- 2 MUG-12",
        {"items": [{"sku": "TS-014", "quantity": 3}, {"sku": "MUG-12", "quantity": 2}]},
        "",
    ),
    (
        "quote",
        "1. TS-014 x 3\n2. MUG-12 x 2",
        {"items": [{"sku": "TS-014", "quantity": 3}, {"sku": "MUG-12", "quantity": 2}]},
        "",
    ),
    (
        "quote",
        "price of 3 TS-014 if I pick them up",
        {"items": [{"sku": "TS-014", "quantity": 3}]},
        "",
    ),
    (
        "quote",
        "TS-014, quantity 3; MUG-12, quantity 2",
        {"items": [{"sku": "TS-014", "quantity": 3}, {"sku": "MUG-12", "quantity": 2}]},
        "",
    ),
    ("quote", "a couple of TS-014", {"items": [{"sku": "TS-014"}]}, "items[0].quantity"),
    (
        "quote",
        "one TS-014 please, standard shipping is fine",
        {"items": [{"sku": "TS-014", "quantity": 1}], "shipping": "standard"},
        "",
    ),
    ("mug", "Can I get two large blue mugs?", {"colour": "blue", "quantity": 2}, "size"),
    (
        "mug",
        "colour=green size=L quantity=4 gift_wrap=true",
        {"colour": "green", "size": "L", "quantity": 4, "gift_wrap": True},
        "",
    ),
    (
        "mug",
        "I'd love a size M mug in navy blue, gift-wrapped",
        {"size": "M", "colour": "navy blue", "gift_wrap": True},
        "",
    ),
    ("mug", "one mug, M, red - it's a gift", {"size": "M", "colour": "red", "quantity": 1}, ""),
    (
        "mug",
        "M, red, and please do not gift wrap",
        {"size": "M", "colour": "red", "gift_wrap": False},
        "",
    ),
    ("mug", "blue or maybe green, L", {"size": "L"}, "colour=blue|green"),
    (
        "visit",
        "Could we come by the Boise store next Thursday at half past ten? mail: a.b@c.example",
        {"store": "boise", "email": "a.b@c.example"},
        "date=2026-11-26|2026-12-03 time",
    ),
    (
        "visit",
        "Portland, 1 December 2026, 11 am, four people, a.b@c.example",
        {
            "store": "portland",
            "date": "2026-12-01",
            "time": "11:00:00",
            "people": 4,
            "email": "a.b@c.example",
        },
        "",
    ),
    (
        "visit",
        "Bend 12/24/2026 at 9:15, a@b.example",
        {"store": "bend", "date": "2026-12-24", "time": "09:15:00", "email": "a@b.example"},
        "",
    ),
    (
        "visit",
        "Bend in 10 days at 16:00; there will be 3 of us; a@b.example",
        {"store": "bend", "date": "2026-12-05", "time": "16:00:00", "email": "a@b.example"},
        "",
    ),
    (
        "rent",
        "I'd like to rent a mountain bike from tomorrow until Sunday",
        {"item": "mountain bike", "from_date": "2026-11-26", "to_date": "2026-11-29"},
        "",
    ),
    (
        "rent",
        "kayak 2027-07-01 to 2027-07-04",
        {"item": "kayak", "to_date": "2027-07-04", "from_date": "2027-07-01"},
        "",
    ),
    ("rent", "tent for the weekend", {"item": "tent"}, "from_date to_date"),
    (
        "refund",
        "Please refund the 49.90 EUR I paid for ORD-000777",
        {"order_id": "ORD-000777", "amount": 49.9, "currency": "EUR"},
        "",
    ),
    (
        "refund",
        "partial refund of £12 on ORD-000777",
        {"order_id": "ORD-000777", "amount": 12, "currency": "GBP"},
        "",
    ),
    (
        "refund",
        "ORD-000777: 10 EUR off and 5 EUR shipping",
        {"order_id": "ORD-000777", "currency": "EUR"},
        "amount=10|5",
    ),
    (
        "contact",
        "Name: Ada Lovelace\nEmail: ada@lovelace.example\nMessage: Where is my order?",
        {"name": "Ada Lovelace", "email": "ada@lovelace.example", "message": "Where is my order?"},
        "",
    ),
    (
        "contact",
        "I'm Ada (ada@lovelace.example) and would like the newsletter",
        {"email": "ada@lovelace.example", "newsletter": True},
        "name message",
    ),
    (
        "find",
        "lightweight tents for two people under 300 EUR",
        {"query": "lightweight tents for two people", "max_price": 300},
        "",
    ),
    (
        "move",
        "Please transfer 12 units of TS-014 from Portland to Bend",
        {"sku": "TS-014", "quantity": 12, "from_store": "portland", "to_store": "bend"},
        "",
    ),
    (
        "buy",
        "Order 2 camping stoves, 1 head lamp and 4 gas canisters please.",
        {
            "items": [
                {"product": "camping stoves", "quantity": 2},
                {"product": "head lamp", "quantity": 1},
                {"product": "gas canisters", "quantity": 4},
            ]
        },
        "",
    ),
    (
        "trip",
        "We are 2 guests and stay 5 nights, breakfast included",
        {"guests": 2, "nights": 5, "breakfast": True},
        "",
    ),
    (
        "call",
        "Please call me next Monday at 2:30 pm",
        {"starts_at": "2026-11-30T14:30:00+01:00"},
        "",
    ),
]
