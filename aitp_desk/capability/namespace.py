"""What a capability has for itself alone at a site."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Own(msgspec.Struct, frozen=True, eq=False):
    """What a capability has for itself alone. Its text form shows no key.

    Parameters:
        actor: id of the desk's own actor: by it the site is known to others.
        derive: a purpose, in a few words → 32 bytes that are secret, the same at every start of
            this site's desk, and others for other purposes, capabilities and sites.
    """

    actor: str
    derive: Callable[[str], bytes]
