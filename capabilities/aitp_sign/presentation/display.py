"""What is signed as people read it: exactly, with what cannot be seen made visible. Pure.

No text of others can pass for the desk's own lines, nor for other text: what turns the direction of
writing, is not seen or cannot be told from a space is written by its number.
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
"""What is a letter or a mark by its kind, and is not seen (Default_Ignorable_Code_Point), or looks
like a space."""
MOST_LINES = 200
"""Typed data may have many values: what is longer is not signed by this desk."""


def visible(text: str) -> str:
    """A text in which everything can be seen; two texts that differ still do.

    Line breaks stay as they are.
    """
    return "".join(map(_visible, text))


def one_visible_line(text: str) -> str:
    """The same on one line, of what others call a thing: it is no line that is signed."""
    line = visible(" ".join(text.split()))
    return f"{_by_number(_BAR)}{line[1:]}" if line.startswith(_BAR) else line


def exact_line(text: str) -> str:
    """The same on one line, of what is signed: line breaks are shown as well."""
    return visible(text).replace("\n", _by_number("\n"))


def quoted(lines: Iterable[str]) -> str:
    """Text of others, each line marked as theirs."""
    return "\n".join(f"{_BAR} {exact_line(line)}" for line in lines)


def lines_of(subject: Subject) -> Iterator[str]:
    """All that is signed, in words: of a text its lines, of the rest one line for each thing."""
    match subject:
        case Statement(text) | NearMessage(text):
            yield from text.split("\n")
        case PersonalMessage(message):
            yield from _personal(message)
        case Typed(data):
            yield from eip712.told(data)
        case NearCall(transaction):
            yield f"from {transaction.signer_id}, by {transaction.public_key}"
            yield from near_transactions.told(transaction.receiver_id, transaction.actions)
        case NearSending(receiver, actions):
            yield from near_transactions.told(receiver, actions)
        case (
            EvmCall(transaction=called, chain_id=chain)
            | EvmSending(transaction=called, chain_id=chain)
        ):
            yield from evm_transactions.told(called, chain)
        case Accounts(chain_id):
            yield "which accounts there are" + (f" on chain {chain_id}" if chain_id else "")


def bound_by(subject: Subject, until: int | None) -> str:
    """To what a signature is bound, in a line; empty where the thing signed says it itself."""
    match subject:
        case Statement(_, nonce, recipient):
            ends = f", until {told_until(until)}" if until else ""
            return f"For {exact_line(recipient)} alone{ends}, once: {nonce}."
        case NearMessage(_, nonce, recipient):
            return f"For {exact_line(recipient)} alone, once: {exact_line(nonce)}."
        case _:
            return ""


def _personal(message: str) -> Iterator[str]:
    data = eip191.bytes_of(message)
    try:
        yield from data.decode().split("\n")
    except UnicodeDecodeError:
        yield f"bytes that are no text: {to_hex(data)}"
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
