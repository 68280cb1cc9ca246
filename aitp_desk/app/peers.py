"""Assembles the partner sites: their actions, and the agents that ask them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from yarl import URL

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Agent
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.auth.credentials.desk_chain import DESK_ID, make_desk_id
from aitp_desk.auth.jwt.signing_keys import key_pair
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.config import Config, ConfigError, Peer
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.threads.child_threads import AskedPartner, FindPartner
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.store.base import Store
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.units.transport_bytes import exchange_bytes, keep_bytes, replace_bytes
from aitp_desk.transports.peers.agents import DelegatingAgent, PassthroughAgent
from aitp_desk.transports.peers.callbacks import PURPOSE, CallbackAddresses
from aitp_desk.transports.peers.federation import (
    HAND_OVER,
    make_hand_over_action,
    make_partners_action,
)
from aitp_desk.transports.peers.memory import PeerMemory
from aitp_desk.transports.peers.offers import PartnerOffers
from aitp_desk.transports.peers.partner import Partner
from aitp_desk.transports.peers.purchases import make_purchase_action
from aitp_desk.transports.peers.questions import make_question_action
from aitp_desk.transports.peers.rules import ask_name, check_peers
from aitp_desk.visitor import Payer, Signer

REQUESTS = "requests to partners"
"""What the key that signs them is derived for."""
OPEN_TO = ("anyone", "actions", "operators")
"""Who may call, the most callers first."""


class Peers(msgspec.Struct, frozen=True, eq=False):
    """The partners of a site.

    Parameters:
        asked: those that the site's main agent asks.
        forwarded: those to which a further agent's threads are forwarded, by that agent's name.
        actions: by the name of the agent that has them; the main agent's is empty.
        offers: the partners' own actions.
    """

    asked: tuple[Partner, ...] = ()
    forwarded: Mapping[str, Partner] = {}
    actions: Mapping[str, tuple[OfferedAction, ...]] = {}
    offers: tuple[PartnerOffers, ...] = ()

    def notes(self) -> tuple[str, ...]:
        """Return notes on the partners for the owner, in sentences."""
        return tuple(note for one in self.offers for note in one.notes)

    def find_agent(self, name: str, agent: Agent) -> Agent:
        """Return the agent that answers for a site agent.

        A model asks partners itself: their actions are among its tools.

        Parameters:
            name: of a further site agent; empty for the site's main agent.
            agent: answers from its content.
        """
        if name in self.forwarded:
            return PassthroughAgent(self.forwarded[name])
        if not name and self.asked and isinstance(agent, ExtractiveAgent):
            return DelegatingAgent(agent, self.asked)
        return agent


async def open_peers(
    config: Config,
    *,
    keys: DataKeys,
    store: Store,
    environment: Mapping[str, str],
    clock: Callable[[], float],
) -> Peers:
    """Open the partners that ``desk.toml`` names, and fetch their lists of actions.

    A partner that does not respond affects nothing else.

    Parameters:
        environment: holds the desk's credentials for partners.
        clock: Unix seconds.

    Raises:
        ConfigError: a setting is wrong.
    """
    if not config.peers:
        return Peers()
    if problems := tuple(check_peers(config, environment)):
        raise ConfigError(problems)
    desk_id = make_desk_id(keys.derive(DESK_ID))
    signer = make_peer_signer(config, keys)
    addresses = make_callback_addresses(config, keys)
    partners = [
        Partner(
            one,
            token=environment.get(one.bearer_env, "").strip() if one.bearer_env else "",
            desk_id=desk_id,
            signer=signer if one.signs else None,
            callback=addresses.make if one.callbacks else None,
            payer=None if signer is None else make_payer(signer, one),
        )
        for one in config.peers
    ]
    actions: dict[str, list[OfferedAction]] = {}
    names = set(OWN_NAMES)
    memories = [make_memory(store, one.settings.name, clock) for one in partners]
    for one, memory in zip(partners, memories, strict=True):
        offered = make_question_action(one, memory)
        own = actions.setdefault(one.settings.passthrough, [])
        own.append(offered)
        if one.settings.buyers:
            own.append(make_purchase_action(one, memory))
    asked = tuple(one for one in partners if not one.settings.passthrough)
    handed = [
        (one, memory)
        for one, memory in zip(partners, memories, strict=True)
        if one.settings.hand_over
    ]
    if asked:
        actions[""].append(make_partners_action(asked))
    if handed:
        open_to = max((one.settings.open_to for one, _ in handed), key=OPEN_TO.index)
        actions.setdefault("", []).append(make_hand_over_action(handed, open_to))
    names |= {one.action.name for own in actions.values() for one in own}
    offers = tuple(PartnerOffers(one, config.data) for one in partners)
    await asyncio.gather(*(one.load() for one in offers))
    for source in offers:
        for offered in source.list_actions(names.__contains__):
            names.add(offered.action.name)
            actions.setdefault("", []).append(offered)
    return Peers(
        asked,
        {one.settings.passthrough: one for one in partners if one.settings.passthrough},
        {name: tuple(own) for name, own in actions.items()},
        offers,
    )


def make_peer_signer(config: Config, keys: DataKeys) -> Signer | None:
    """Make what signs requests and payments to partners; None if none is to be signed."""
    if not any(one.signs or one.account for one in config.peers):
        return None
    return Signer(str(URL(config.site.url).origin()), key_pair(keys.derive(REQUESTS)).private)


def make_payer(signer: Signer, peer: Peer) -> Payer | None:
    """Make what pays a partner from the desk's account there; None without one."""
    return Payer(signer.key, signer.agent, account=peer.account) if peer.account else None


def make_callback_addresses(config: Config, keys: DataKeys) -> CallbackAddresses:
    """Make the addresses at which partners call back."""
    return CallbackAddresses(config.site.url, keys.derive(PURPOSE))


def make_partner_finder(peers: Sequence[Peer]) -> FindPartner:
    """Make the function that finds which partner a call has asked a question."""
    partners = {one.name: AskedPartner(one.name, one.url) for one in peers}
    asking = {ask_name(one): one.name for one in peers}

    def find_partner(call: ActionCall) -> AskedPartner | None:
        name = asking.get(call.action)
        if call.action == HAND_OVER:
            name = str(call.arguments.get("partner", ""))
        return partners.get(name or "")

    return find_partner


def make_key_directory(config: Config, keys: DataKeys) -> Mapping[str, Any] | None:
    """Return the public keys that verify requests to partners; None if none is signed."""
    signer = make_peer_signer(config, keys)
    return None if signer is None else signer.directory()


def make_memory(store: Store, name: str, clock: Callable[[], float]) -> PeerMemory:
    """Make what stores the conversations with a partner.

    Parameters:
        name: of the partner.
        clock: Unix seconds.
    """
    owner = f"peer:{name}"

    async def keep(key: str, data: bytes) -> None:
        await store.run(
            keep_bytes,
            transport=owner,
            key=key,
            data=data,
            principal=key,  # of a thread, and erased with it
            now=int(clock()),
            expires=True,
        )

    async def replace(key: str, data: bytes) -> None:
        await store.run(replace_bytes, transport=owner, key=key, data=data, now=int(clock()))

    async def exchange(key: str, before: bytes, data: bytes) -> bool:
        now = int(clock())
        return await store.run(
            exchange_bytes, transport=owner, key=key, before=before, data=data, now=now
        )

    return PeerMemory(partial(_read_bytes, store, owner), keep, replace, exchange)


async def _read_bytes(store: Store, owner: str, key: str) -> bytes | None:
    return await transport_reads.stored_bytes(store, owner, key)
