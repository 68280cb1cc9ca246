"""Rules for the settings of partner sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from aitp_desk.actions.declaration.terms import read_cost
from aitp_desk.actions.terms import find_name_faults
from aitp_desk.config import Config, Peer, Problem
from aitp_desk.model.calls.action import is_action_name
from aitp_desk.model.web_address import web_address
from aitp_desk.visitor.base import Quote

ASK_PREFIX = "ask_"
BUY_PREFIX = "buy_"
_PLACES = 6
"""The most decimal places of a price that a visitor can be asked to pay here."""


def check_peers(config: Config, environment: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the faults in the settings of partners, without visiting them.

    Parameters:
        environment: holds the credentials that they name.
    """
    agents = {agent.name for agent in config.agents}
    forwarded: set[str] = set()
    for number, one in enumerate(config.peers, 1):
        place = f"peers, {one.name}" if one.name else "peers"
        if not one.name:
            yield Problem(place, f"table {number} of [[peers]] has no name.")
        elif any(one.name == other.name for other in config.peers[: number - 1]):
            yield Problem(place, "has a name that is already in use.")
        for message in _wrong(one, config.site.url, environment):
            yield Problem(place, message)
        if one.passthrough and one.passthrough not in agents:
            yield Problem(
                place,
                f"passthrough names {one.passthrough!r}, which is no agent of [[agents]].",
            )
        elif one.passthrough in forwarded:
            yield Problem(place, f"{one.passthrough!r} already forwards to another partner.")
        if one.passthrough:
            forwarded.add(one.passthrough)


def ask_name(peer: Peer) -> str:
    """Return the name of the action that asks a partner."""
    return f"{ASK_PREFIX}{peer.name}"


def buy_name(peer: Peer) -> str:
    """Return the name of the action that agrees to a partner's price."""
    return f"{BUY_PREFIX}{peer.name}"


def may_buy(settings: Peer, quote: Quote | None) -> bool:
    """Return whether the owner lets a price be agreed to."""
    most = read_cost(settings.budget) if settings.buyers else None
    if most is None or quote is None or (quote.prepaid and not settings.account):
        return False
    if most.currency != quote.money.currency or quote.money.amount > most.amount:
        return False
    return round(quote.money.amount, _PLACES) == quote.money.amount


def _wrong(one: Peer, own: str, environment: Mapping[str, str]) -> Iterator[str]:
    address = web_address(one.url)
    if address is None or address.username is not None or address.password is not None:
        yield "url must be a web address without a user name, such as https://shop.example."
    elif own and one.url.rstrip("/") == own:
        yield "url is this site's own address."
    if one.bearer_env and not environment.get(one.bearer_env, "").strip():
        yield f"bearer_env names the environment variable {one.bearer_env}, which is not set."
    if one.signs and find_spec("http_message_signatures") is None:
        yield "signs needs an extra: pip install 'aitp-desk[signatures]'."
    if one.callbacks and not own:
        yield "callbacks needs site.url, the address that the partner posts to."
    yield from _wrong_payments(one, own)
    named = [terms.action for terms in one.terms]
    yield from find_name_faults(named, one.actions, "action")
    if one.passthrough and (one.actions or one.topics):
        yield "has a passthrough, where topics and actions have no use; write a second table."
    if not is_action_name(f"{ASK_PREFIX}{one.name}"):
        yield "name must be of small letters, digits and _."


def _wrong_payments(one: Peer, own: str) -> Iterator[str]:
    if one.budget and read_cost(one.budget) is None:
        yield "budget must be an amount such as 29.99 EUR."
    if one.buyers and not one.budget:
        yield "buyers needs a budget, such as 29.99 EUR: the most that one purchase may cost."
    if one.prepaid and not one.buyers:
        yield "prepaid needs buyers: it says who may buy."
    if one.account and one.buyers == "anyone" and not one.prepaid:
        yield "buyers is anyone, for whom account would pay: set prepaid, or buyers to actions."
    if one.account and not own:
        yield "account needs site.url, where the partner finds the key of its payments."
