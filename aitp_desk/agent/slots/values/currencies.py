"""Reads the currency of an amount into the field for it."""

from __future__ import annotations

from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.values.numbers import read_amount


def read_currencies(reading: TurnReading) -> None:
    """Read the currency that is named with an amount.

    A dollar counts as that of one country only if the field takes no other. An amount in a currency
    that is not accepted is not read.
    """
    takers = [field for field in reading.fields if _is_taker(field) and not reading.is_said(field)]
    if len(takers) != 1:
        return
    text = reading.text
    for place in range(len(text)):
        amount = read_amount(text, place) if text.is_free(place) else None
        if amount is None:
            continue
        codes = [code for code in amount.currencies if _takes(takers[0], code)]
        reading.add_values(takers[0], codes)
        if not codes:
            text.mark_read(amount.start, amount.end)


def _is_taker(field: Field) -> bool:
    return field.kind in {"choice", "id", "text"} and (
        "currency" in field.words or any(_takes(field, code) for code in ("EUR", "USD", "GBP"))
    )


def _takes(field: Field, code: str) -> bool:
    if field.kind == "choice":
        return any(option.value == code for option in field.options)
    return (
        "currency" in field.words
        and field.pattern is not None
        and field.pattern.fullmatch(code) is not None
    )
