"""Identifiers whose text order is their time order.

An id is a prefix and 36 characters of base32, digits before letters: ten for Unix milliseconds,
then 26 random ones (130 bits). The randomness protects an anonymous visitor's thread, which its id
alone opens.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from aitp_desk.model.randomness import random_piece

_ALPHABET = "0123456789abcdefghijklmnopqrstuv"
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_DIGIT_OF_BYTE = (_ALPHABET * 8).encode()
"""For ``bytes.translate``: every digit represents eight of the 256 bytes."""
TIME_DIGITS = 10
"""How many digits stand for the time."""
ID_BYTES = 26
"""How many random bytes an id uses, one for each of its random digits."""


def new_id(prefix: str, now: float) -> str:
    """Make an id such as ``thread_01hhgn2g03…``.

    Parameters:
        prefix: what the id names, without the underscore.
        now: Unix time in seconds; ids made later sort later (to the millisecond).
    """
    random = random_piece()[:ID_BYTES].translate(_DIGIT_OF_BYTE).decode("ascii")
    return f"{prefix}_{_digits_of(int(now * 1000))}{random}"


def id_from(prefix: str, now: float, random: bytes) -> str:
    """Make the id that is determined by a time and random bytes.

    Parameters:
        prefix, now: as in :func:`new_id`.
        random: at least :data:`ID_BYTES` unpredictable bytes.
    """
    return first_id(prefix, now) + random[:ID_BYTES].translate(_DIGIT_OF_BYTE).decode("ascii")


def first_id(prefix: str, now: float) -> str:
    """Return the lower bound of the ids of a moment.

    Ids that were made earlier sort before it, others after.

    Parameters:
        prefix, now: as in :func:`new_id`.
    """
    return f"{prefix}_{_digits_of(int(now * 1000))}"


def digest_thread(id_: str) -> str:
    """Return what names a thread without opening it."""
    return sha256(id_.encode()).hexdigest()[:32]


def next_id(id_: str) -> str:
    """Make an id of the same kind that sorts after another: of the next millisecond."""
    prefix, _, digits = id_.rpartition("_")
    ms = int(digits[:TIME_DIGITS], len(_ALPHABET)) + 1
    return new_id(prefix, (ms + 0.5) / 1000)  # halfway, so that no rounding leads back


@lru_cache(maxsize=64)
def _digits_of(ms: int) -> str:
    """Return the digits of a time; cached, as several ids share a millisecond."""
    return (
        _PAIRS[ms >> 40 & 1023]
        + _PAIRS[ms >> 30 & 1023]
        + _PAIRS[ms >> 20 & 1023]
        + _PAIRS[ms >> 10 & 1023]
        + _PAIRS[ms & 1023]
    )
