"""Bytes that are nearly what a parser takes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.fuzz.tree import change_tree

MOST_BYTES = 4096


def mutate(random: Random, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Return a seed that was changed in a few places.

    Parameters:
        words: bytes that mean something to the parser; they are put in.
    """
    seed = random.choice(seeds)
    if random.random() < 0.5 and (changed := change_tree(random, seed)) is not None:
        return changed[:MOST_BYTES]
    data = bytearray(seed)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((1, 1, 2, 4, 16)))
        match random.randrange(8):
            case 0 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = random.randbytes(random.choice((1, 2, 4)))
            case 3:
                data[at:at] = data[at:end] * random.choice((1, 2, 50))
            case 4:
                other = random.choice(seeds)
                start = random.randrange(len(other) + 1)
                data[at:end] = other[start : start + 16]
            case 5:
                del data[at:]
            case _ if words:
                data[at : end if random.random() < 0.3 else at] = random.choice(words)
            case _:
                data[at:end] = bytes(reversed(data[at:end]))
    return bytes(data[:MOST_BYTES])
