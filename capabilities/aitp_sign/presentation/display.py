"""Renders signed content exactly, with invisible characters made visible. Pure.

Foreign text cannot pass for the desk's own lines or for another text: characters that change the
direction of writing, are invisible or look like a space are shown by their code point.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from aitp_sign.evm import eip191, eip712
from aitp_sign.evm import transactions as evm_transactions
from aitp_sign.keys.encodings import to_hex
from aitp_sign.near import transactions as near_transactions
from aitp_sign.subjects import (
    Accounts,
    EvmCall,
    EvmSending,
    NearCall,
    NearMessage,
    NearSending,
    PersonalMessage,
    Statement,
    Subject,
    Typed,
    told_until,
)

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_OPENING = "⟦"
_BAR = "|"
_BLANK = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
)
"""Letters and marks that are invisible (Default_Ignorable_Code_Point), or look like a space."""
MOST_LINES = 200
"""Typed data may have many values: the desk does not sign longer content."""


def visible(text: str) -> str:
    """Return a text with all characters visible; different texts stay different.

    Line breaks are kept.
    """
    return "".join(map(_visible, text))


def one_visible_line(text: str) -> str:
    """Return a foreign name as one visible line, unlike any signed line."""
    line = visible(" ".join(text.split()))
    return f"{_by_number(_BAR)}{line[1:]}" if line.startswith(_BAR) else line


def exact_line(text: str) -> str:
    """Return signed text as one visible line, with line breaks shown."""
    return visible(text).replace("\n", _by_number("\n"))


def quoted(lines: Iterable[str]) -> str:
    """Return foreign text with each line marked."""
    return "\n".join(f"{_BAR} {exact_line(line)}" for line in lines)


def lines_of(subject: Subject) -> Iterator[str]:
    """Yield everything that is signed: the lines of a text, else a line for each value."""
    match subject:
        case Statement(text) | NearMessage(text):
            yield from text.split("\n")
        case PersonalMessage(message):
            yield from _personal(message)
        case Typed(data):
            yield from eip712.describe(data)
        case NearCall(transaction):
            yield f"from {transaction.signer_id}, by {transaction.public_key}"
            yield from near_transactions.describe(transaction.receiver_id, transaction.actions)
        case NearSending(receiver, actions):
            yield from near_transactions.describe(receiver, actions)
        case (
            EvmCall(transaction=called, chain_id=chain)
            | EvmSending(transaction=called, chain_id=chain)
        ):
            yield from evm_transactions.describe(called, chain)
        case Accounts(chain_id):
            yield "which accounts you have" + (f" on chain {chain_id}" if chain_id else "")


def bound_by(subject: Subject, until: int | None) -> str:
    """Return what a signature is bound to, in a line; empty if the content states it."""
    match subject:
        case Statement(_, nonce, recipient):
            ends = f", until {told_until(until)}" if until else ""
            return f"Only for {exact_line(recipient)}{ends}, once: {nonce}."
        case NearMessage(_, nonce, recipient):
            return f"Only for {exact_line(recipient)}, once: {exact_line(nonce)}."
        case _:
            return ""


def _personal(message: str) -> Iterator[str]:
    data = eip191.bytes_of(message)
    try:
        yield from data.decode().split("\n")
    except UnicodeDecodeError:
        yield f"bytes that are not text: {to_hex(data)}"
    else:
        if message.startswith("0x") and data != message.encode():
            yield f"as bytes: {message}"


def _visible(letter: str) -> str:
    if letter == "\n":
        return letter
    kind = unicodedata.category(letter)
    is_space = kind == "Zs" and letter != " "
    if kind in _UNSEEN or is_space or letter == _OPENING or ord(letter) in _BLANK:
        return _by_number(letter)
    return letter


def _by_number(letter: str) -> str:
    return f"{_OPENING}U+{ord(letter):04X}⟧"
