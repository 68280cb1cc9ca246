"""Sealed values, as they are told to whoever may read them."""

from __future__ import annotations

from typing import Literal

import msgspec


class Sealed(msgspec.Struct):
    """A value that nobody reads in passing."""

    id: str
    object: Literal["sealed"]
    created_at: int
    thread_id: str | None
    value: str
