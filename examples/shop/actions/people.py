"""Questions for the people of the shop, about anything without an action."""

from __future__ import annotations

from textwrap import shorten
from typing import Annotated

from msgspec import Meta

from aitp_desk.actions import Ticket, action

LONGEST_LINE = 120

Question = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2000,
        description="The question or decision, with all necessary details.",
        extra_json_schema={"x-from-text": "rest"},
    ),
]


# a repeated call asks once: the desk stores the question, not this function
@action(kind="async", mutability="read_only", blast_radius="self", idempotent=True)
def contact_human(question: Question) -> Ticket:
    """Puts a question to a person of the shop, who answers in their own words.

    The answer takes minutes while a store is open, otherwise until the next morning.

    Args:
        question: what to ask.
    """
    return Ticket(shorten(question, LONGEST_LINE, placeholder=" …"), note=question)
