"""The actor and the keys of a capability at a site."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Own(msgspec.Struct, frozen=True, eq=False):
    """The desk's actor, and secret keys of one capability. Its text form shows no key.

    Parameters:
        actor: id of the desk's own actor, by which others know the site.
        derive: takes a purpose in a few words and returns 32 secret bytes. They are the same at
            every start and differ for other purposes, capabilities and sites.
    """

    actor: str
    derive: Callable[[str], bytes]
