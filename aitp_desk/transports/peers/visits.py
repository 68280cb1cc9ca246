"""Reads what partners were asked: the calls of the actions that visit them, with their cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.actions.terms import ALL, to_action_name
from aitp_desk.config import Peer
from aitp_desk.model.money import Money
from aitp_desk.model.timestamps import write_timestamp
from aitp_desk.store.base import Store
from aitp_desk.store.reads.calls import calls_since
from aitp_desk.transports.peers.federation import HAND_OVER
from aitp_desk.transports.peers.offers import find_list, read_list
from aitp_desk.transports.peers.rules import ask_name, buy_name


class PartnerVisit(msgspec.Struct, frozen=True):
    """A call that visited a partner.

    Parameters:
        at: when it was made.
        arguments: what was asked, or sent.
        price: what the caller has agreed to here; None for nothing.
        spent: what this desk has agreed to pay the partner; None for nothing.
    """

    at: str
    partner: str
    action: str
    call: str
    state: str
    arguments: Mapping[str, Any]
    price: Money | None
    spent: Money | None


async def list_visits(
    peers: tuple[Peer, ...], data: Path, store: Store, since: float
) -> list[PartnerVisit]:
    """Return the visits to partners, the oldest first.

    Parameters:
        data: the desk's data folder.
        since: Unix seconds.
    """
    partners = _name_actions(peers, data)
    found: list[tuple[float, PartnerVisit]] = []
    async for call in calls_since(store, math.floor(since)):
        partner = partners.get(call.action, "")
        if call.action == HAND_OVER:
            partner = str(call.arguments.get("partner", ""))
        if partner:
            visit = PartnerVisit(
                write_timestamp(call.created_at),
                partner,
                call.action,
                call.id,
                call.state.value,
                call.arguments,
                call.price,
                call.spent,
            )
            found.append((call.created_at, visit))
    # the id of a call with an idempotency key tells no time
    return [visit for _, visit in sorted(found, key=lambda one: one[0])]


def _name_actions(peers: tuple[Peer, ...], data: Path) -> dict[str, str]:
    """Return the partners by the names of the actions that visit them."""
    partners: dict[str, str] = {}
    for peer in peers:
        partners[ask_name(peer)] = peer.name
        partners[buy_name(peer)] = peer.name
        given = {terms.action: terms.name for terms in peer.terms}
        listed = [one.name for one in read_list(find_list(data, peer.name))]
        for name in listed if peer.actions == (ALL,) else peer.actions:
            partners[peer.prefix + (given.get(name) or to_action_name(name))] = peer.name
    return partners
