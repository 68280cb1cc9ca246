"""Defines the description of an operation."""

from __future__ import annotations

import msgspec


class OperationText(msgspec.Struct, frozen=True):
    """The description of an operation beyond its route.

    Parameters:
        summary: one line.
        gives: the Struct of its response, or several; empty for one that is not described.
        takes: the Struct of its body; empty for any object.
        is_list: whether it returns a page of these objects.
        query: its query parameters beyond those of every list.
        statuses: its responses beyond those that follow from its route.
        empty: its successes without a body.
        is_repeatable: whether an ``Idempotency-Key`` is honoured.
        waits: whether ``Prefer: wait=N`` makes it wait for the outcome.
        streams: whether it may answer with a stream of events.
        gives_files: whether its response may have any media type.
        also: the media types of its response in addition to JSON.
    """

    summary: str
    gives: str = ""
    takes: str = ""
    is_list: bool = False
    query: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    is_repeatable: bool = False
    waits: bool = False
    streams: bool = False
    gives_files: bool = False
    also: tuple[str, ...] = ()
