"""Reads a site's agents.json or agents.txt (agents.txt 1.0, sections 2.2, 3.6 and 9.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from aitp_desk.protocols.agents_txt import (
    AgentPolicy,
    Capability,
    Document,
    RateLimit,
    may_read,
)
from aitp_desk.protocols.agents_txt.examination import examine_served
from aitp_desk.visitor.errors import VisitError
from aitp_desk.visitor.fetcher import Fetcher

PLACES = (
    "/.well-known/agents.json",
    "/.well-known/agents.txt",
    "/agents.json",
    "/agents.txt",
)
"""Where the file is looked for, in order; only after 404 is the next one requested."""
DEFAULT_SECONDS = 300.0
"""How long a file without caching headers is not requested again (section 9.2)."""
_ABSENT = frozenset({404, 410})


class AgentsFile(msgspec.Struct, frozen=True):
    """What a site declares for this visitor.

    Parameters:
        url: of the file; empty if the site has none.
        document: None if there is no file, or none that can be trusted.
        policy: of this visitor; None if no block is for it.
        fault: why there is no document, a sentence; empty if the site has no file.
    """

    url: str = ""
    document: Document | None = None
    policy: AgentPolicy | None = None
    fault: str = ""

    @property
    def is_closed(self) -> bool:
        """Whether there is a file that cannot be trusted: nothing undeclared is then tried."""
        return self.document is None and bool(self.fault)

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """Those that this visitor may use."""
        if self.document is None:
            return ()
        allowed = None if self.policy is None else self.policy.capabilities
        return tuple(
            each for each in self.document.capabilities if allowed is None or each.id in allowed
        )

    def is_forbidden(self, url: str) -> bool:
        """Whether the address is a declared capability that this visitor may not use."""
        if self.document is None:
            return False
        usable = {each.endpoint for each in self.capabilities}
        declared = {each.endpoint for each in self.document.capabilities}
        return url in declared - usable

    def may_read(self, url: str) -> bool:
        """Whether Allow and Disallow let agents read an address of the site."""
        if self.document is None:
            return True
        address = urlsplit(url)
        path = address.path or "/"
        return may_read(self.document, f"{path}?{address.query}" if address.query else path)

    def limits(self, capability: Capability) -> tuple[RateLimit, ...]:
        """The limits of a capability's calls; all of them hold (section 7.2)."""
        own = None if self.policy is None else self.policy.rate_limit
        return tuple(limit for limit in (own, capability.rate_limit) if limit is not None)


async def read_agents_file(fetcher: Fetcher, agent: str, *, must_ask: bool = False) -> AgentsFile:
    """Read what a site declares, and fail closed.

    Parameters:
        agent: the visitor's name, the first token of its User-Agent.
        must_ask: whether to ask the site even if a fresh copy is kept.
    """
    for place in PLACES:
        url = fetcher.origin + place
        try:
            found = await fetcher.read(
                url, default_seconds=DEFAULT_SECONDS, must_ask=must_ask, attempts=2
            )
        except VisitError as error:
            return AgentsFile(url, fault=f"It cannot be read: {error}")
        if found.status in _ABSENT:
            continue
        if found.status != 200:
            return AgentsFile(url, fault=f"It cannot be read: its status is {found.status}.")
        # many sites serve a sound file under another type, which harms no reader
        examined = examine_served(found.url, found.headers, found.body)
        faults = [one for one in examined.errors if one.place != "Content-Type"]
        if examined.document is None or faults:
            told = str(faults[0]) if faults else "it is no such file."
            return AgentsFile(url, fault=f"It breaks its specification: {told}")
        policy = find_policy(examined.document.agents, agent)
        return AgentsFile(url, examined.document, policy)
    return AgentsFile()


def find_policy(agents: Mapping[str, AgentPolicy], agent: str) -> AgentPolicy | None:
    """Return the policy for an agent, else that for all; None without either (section 9.2)."""
    name = first_token(agent)
    own = next((one for key, one in agents.items() if first_token(key) == name), None)
    return own if own is not None else agents.get("*")


def first_token(agent: str) -> str:
    """Return an agent's name as it is compared: up to a slash or space, in lower case."""
    return agent.partition("/")[0].partition(" ")[0].casefold()


def describe(agents_file: AgentsFile) -> Mapping[str, Any]:
    """Return the file as an endpoint keeps it."""
    return {"agents_file": agents_file}
