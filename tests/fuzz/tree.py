"""JSON that is well-formed and nearly what a reader expects: other types, members, sizes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

_DEEP = "nested more deeply than any reader goes"
_ODD: tuple[Any, ...] = (
    _DEEP,
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 10**30, -0.5, 1e308, float("nan")),
    *("", " ", "0", "-1", "9" * 30, "\x00", "\ud800", "\udc00a", "\u202e", "😀", "a" * 300, "\r\n"),
    *([], {}, [[]], [None], [{}], {"": None}, {"id": {}}),
)
_MOST_PLACES, _DEPTH = 2_000, 1_500
_PIECES = ("\x00", "\ud83d", "😀", "<", ">", "@", "/", ":", "\n", " ", "\u2028", "%00", "é")


def change_tree(random: Random, data: bytes) -> bytes | None:
    """Return the data with a few changes within its JSON object; None if it has none."""
    at = data.find(b"{")
    if at < 0:
        return None
    try:
        tree = [json.loads(data[at:])]  # so that the object itself has a place
    except (ValueError, RecursionError):
        return None
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        _change(random, tree)
    text = json.dumps(tree[0] if tree else None, ensure_ascii=random.random() < 0.5)
    text = text.replace(f'"{_DEEP}"', "[" * _DEPTH + "]" * _DEPTH)
    return data[:at] + text.encode("utf-8", "surrogatepass")


def _change(random: Random, tree: list[Any]) -> None:
    places = list(_places(tree))
    if not 0 < len(places) < _MOST_PLACES:
        return
    holder, key = random.choice(places)
    other_holder, other_key = random.choice(places)
    value, other = holder[key], deepcopy(other_holder[other_key])
    match random.randrange(9):
        case 0:
            del holder[key]
        case 1 | 2:
            holder[key] = deepcopy(random.choice(_ODD))
        case 3:
            holder[key] = other
        case 4:
            holder[key] = random.choice(([value], {str(other_key): value}, str(value)[:99]))
        case 5 if isinstance(holder, dict):
            holder[str(other_key)] = holder.pop(key)
        case 6 if isinstance(value, list) and value:
            holder[key] = [deepcopy(one) for one in value * random.choice((2, 3, 100))][:200]
        case _ if isinstance(value, str):
            cut = random.randrange(len(value) + 1)
            piece = random.choice(_PIECES) * random.choice((1, 1, 2, 99))
            holder[key] = value[:cut] + piece + value[cut + random.choice((0, 0, 1, 9)) :]
        case _ if isinstance(value, int):
            holder[key] = random.choice((-value, value + 1, value * 10**6, str(value), value / 3))
        case _:
            holder[key] = deepcopy(random.choice(_ODD))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each value of a tree as what holds it and its name there."""
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in list(keys):
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
