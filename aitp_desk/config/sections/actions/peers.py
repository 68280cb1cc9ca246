"""Settings of partner sites, which the desk asks and whose actions it offers."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import ActionTerms, Prefix, Variable
from aitp_desk.config.units import Url


class PeerActionTerms(ActionTerms, frozen=True, kw_only=True):
    """Changes to a partner's description of one action."""

    action: Annotated[str, Meta(description="The partner's name of the action.")] = ""


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """A partner site. Repeatable.

    The desk asks it with the action ask_NAME, or forwards the threads of one site agent to it.
    """

    name: Annotated[
        str,
        Meta(
            max_length=32,
            pattern=r"\A(?:[a-z][a-z0-9_]*)?\Z",
            extra={"unit": "a name of small letters, digits and _"},
            description="The partner's name in logs, and in the action ask_NAME.",
        ),
    ] = ""
    title: Annotated[
        str,
        Meta(max_length=100, description="The partner's name for visitors; by default the name."),
    ] = ""
    url: Annotated[
        Url,
        Meta(
            description="The partner's address: https, or this machine's loopback.",
        ),
    ] = ""
    protocol: Annotated[
        Literal["", "ahp", "aitp", "a2a", "mcp"],
        Meta(description="The protocol to use; by default the best one that the partner names."),
    ] = ""
    topics: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "words"},
            description="What the partner is asked about, such as e-readers; without topics, "
            "whatever the site itself cannot answer.",
        ),
    ] = ()
    description: Annotated[
        str,
        Meta(max_length=200, description="What the partner knows, in a sentence for visitors."),
    ] = ""
    bearer_env: Annotated[
        Variable,
        Meta(
            description="The environment variable with the desk's own token for the partner. A "
            "caller's credential is never sent."
        ),
    ] = ""
    signs: Annotated[
        bool,
        Meta(
            description="Whether requests that would carry the token, and have none, are signed "
            "with the desk's key (Web Bot Auth). It needs the extra signatures."
        ),
    ] = False
    open_to: Annotated[
        Literal["anyone", "actions", "operators"],
        Meta(
            description="For whom the partner is asked: anyone, callers with the scope actions, or "
            "operators."
        ),
    ] = "anyone"
    passthrough: Annotated[
        str,
        Meta(
            max_length=32,
            description="The site agent of [[agents]] whose threads are forwarded to the partner; "
            "empty to ask it only for what the site cannot answer.",
        ),
    ] = ""
    hand_over: Annotated[
        bool,
        Meta(
            description="Whether a visitor may be handed over, with a summary of the "
            "conversation, after agreeing to it."
        ),
    ] = False
    actions: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "names of actions"},
            description='The partner\'s actions that are offered here; "*" alone offers all.',
        ),
    ] = ()
    prefix: Prefix = ""
    seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=120,
            extra={"unit": "seconds"},
            description="How long the partner may take for one question or call.",
        ),
    ] = 15
    hops: Annotated[
        int,
        Meta(
            ge=1,
            le=4,
            extra={"unit": "desks"},
            description="How many desks a question may have passed, this one included, to be "
            "passed on to the partner.",
        ),
    ] = 4
    callbacks: Annotated[
        bool,
        Meta(
            description="Whether long calls name an address of this desk, where the partner posts "
            "when they end; it is then asked how they went. It needs site.url."
        ),
    ] = False
    budget: Annotated[
        str,
        Meta(
            max_length=32,
            extra={"unit": "an amount such as 29.99 EUR"},
            description="The most that one call of a partner's action may cost; empty to pay "
            "nothing.",
        ),
    ] = ""
    buyers: Annotated[
        Literal["", "anyone", "actions", "operators"],
        Meta(
            description="Who may agree, with the action buy_NAME, to a price within the budget "
            "that the partner names in a conversation; empty for nobody."
        ),
    ] = ""
    prepaid: Annotated[
        bool,
        Meta(description="Whether that price is paid at this desk before anything is bought."),
    ] = False
    account: Annotated[
        str,
        Meta(
            max_length=256,
            description="The desk's account at the partner, from which it pays what the partner "
            "wants paid first; the partner finds the key in the desk's key directory.",
        ),
    ] = ""
    terms: tuple[PeerActionTerms, ...] = ()
