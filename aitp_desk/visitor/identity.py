"""Who visits: the agent's name, its purpose, and the keys that it signs and pays with."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aitp_desk import own_version
from aitp_desk.visitor.payments import Payer
from aitp_desk.visitor.proof.signatures import Signer

NAME = "aitp-desk-visitor"
"""The first token of the visitor's User-Agent (agents.txt 1.0, section 3.6)."""


class Identity(msgspec.Struct, frozen=True):
    """The visiting agent.

    Parameters:
        name: the first token of its User-Agent, and AHP's ``requesting_agent``.
        intent: what the visit is for, in a sentence; sites may store it with a call (AHP 0.1,
            section 5.3).
        callback_url: an address of the caller's own, where sites may post what took long; None:
            the visit polls.
        via: the ids of the desks that have passed the question on, sent as ``Desk-Via``.
        signer: signs requests that carry no credential, and the record of the visit; None: nothing
            is signed.
        payer: what quotes are paid from; None: only what needs no payment in advance is bought.
    """

    name: str = NAME
    intent: str = ""
    callback_url: str | None = None
    via: tuple[str, ...] = ()
    signer: Signer | None = None
    payer: Payer | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """What every request says of the visitor."""
        name = {"User-Agent": f"{self.name}/{own_version()} (+visiting agent)"}
        return {**name, "Desk-Via": ", ".join(self.via)} if self.via else name
