"""Keccak-256, Ethereum's hash: SHA-3 with its original padding. Pure.

Source: FIPS 202, sections 3.2 to 5.1, except the padding, which is that of the Keccak submission.
"""

from __future__ import annotations

from functools import lru_cache

_LANES = 25
_RATE = 136
"""Number of bytes absorbed at a time."""
_MASK = (1 << 64) - 1
KEPT = 1000
PADDING = 0x01
"""The padding's first byte; SHA-3 has 0x06."""


def _round_constants() -> tuple[int, ...]:
    """Return the constants of the 24 rounds (FIPS 202, section 3.2.5), from their LFSR."""
    register, bits = 1, []
    for _ in range(24 * 7):
        bits.append(register & 1)
        register = (register << 1) ^ (0x171 if register & 0x80 else 0)
    return tuple(
        sum(bits[7 * number + index] << ((1 << index) - 1) for index in range(7))
        for number in range(24)
    )


def _steps() -> tuple[tuple[int, int], ...]:
    """Return the lane order of π with the rotations of ρ."""
    steps, x, y = [], 1, 0
    for number in range(24):
        x, y = y, (2 * x + 3 * y) % 5
        steps.append((x + 5 * y, (number + 1) * (number + 2) // 2 % 64))
    return tuple(steps)


_CONSTANTS = _round_constants()
_STEPS = _steps()


@lru_cache(KEPT)
def keccak256(data: bytes) -> bytes:
    """Hash bytes to 32 bytes.

    Results are cached: a message may be judged many times.
    """
    return sponge(data, PADDING)


def sponge(data: bytes, padding: int) -> bytes:
    """Hash bytes with the padding of Keccak or of SHA3-256."""
    padded = bytearray(data)
    padded.append(padding)
    padded += bytes(-len(padded) % _RATE)
    padded[-1] |= 0x80
    lanes = [0] * _LANES
    for start in range(0, len(padded), _RATE):
        for index in range(_RATE // 8):
            at = start + 8 * index
            lanes[index] ^= int.from_bytes(padded[at : at + 8], "little")
        _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _permute(lanes: list[int]) -> None:
    for constant in _CONSTANTS:
        columns = [
            lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
            for x in range(5)
        ]
        for x in range(5):
            mixed = columns[x - 1] ^ _turned(columns[(x + 1) % 5], 1)
            for y in range(0, _LANES, 5):
                lanes[x + y] ^= mixed
        held = lanes[1]
        for index, by in _STEPS:
            held, lanes[index] = lanes[index], _turned(held, by)
        for y in range(0, _LANES, 5):
            row = lanes[y : y + 5]
            for x in range(5):
                lanes[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5])
        lanes[0] ^= constant


def _turned(lane: int, by: int) -> int:
    return ((lane << by) | (lane >> (64 - by))) & _MASK if by else lane
