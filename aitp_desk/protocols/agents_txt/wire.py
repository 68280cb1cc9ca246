"""Describes a desk as agents.txt (agents.txt 1.0, section 3). Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

import msgspec

from aitp_desk.config import (
    THREADS,
    AgentLimits,
    AgentsTxt,
    Limits,
    OwnCapability,
    Problem,
    Site,
    SiteAgent,
)
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.agents_txt.arguments import (
    QUESTION,
    list_parameters,
    make_body_parameter,
    make_own_parameter,
    one_line,
)
from aitp_desk.protocols.agents_txt.document import (
    AGENTS_JSON,
    Access,
    Auth,
    Capability,
    Document,
    RateLimit,
    SiteInfo,
)
from aitp_desk.protocols.agents_txt.policies import (
    A2A,
    CONVERSE,
    MCP,
    NLWEB,
    AgentBlock,
    list_policies,
    make_action_id,
)

TEXT_PATH: Final = "/.well-known/agents.txt"
JSON_PATH: Final = "/.well-known/agents.json"
OTHER_TEXT_PATH: Final = "/agents.txt"
OTHER_JSON_PATH: Final = "/agents.json"
"""The addresses of the files; the last two are alternatives (section 2)."""
OWN_IDS: Final = frozenset({CONVERSE, THREADS, MCP, A2A, NLWEB})
"""The desk's own ids of capabilities that are not actions, served or not."""


class EntryPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of the other protocols; empty where one is not served.

    Parameters:
        converse: AHP's.
        threads: where threads are opened.
        actions: the prefix of an action that is called by plain HTTP.
        openapi: the file that describes these calls.
        token: where access tokens are issued.
        register: where clients register themselves.
    """

    converse: str
    threads: str
    actions: str = ""
    openapi: str = ""
    mcp: str = ""
    a2a: str = ""
    nlweb: str = ""
    token: str = ""
    register: str = ""


class FurtherAgent(msgspec.Struct, frozen=True, kw_only=True):
    """A site agent next to the site's own, with protocols below its name.

    Parameters:
        agent: as it is configured.
        limits: those that are enforced.
        actions: its own, as far as callers may know them.
    """

    agent: SiteAgent
    limits: Limits
    actions: Sequence[Action] = ()


class SiteDescription(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a site for its file.

    Parameters:
        actions: those that callers may know.
        agents: the limits of agents by their names.
        open_scopes: the most that self-registered clients may have.
        further: the site agents next to the site's own.
    """

    site: Site
    settings: AgentsTxt
    limits: Limits
    agents: Sequence[AgentLimits]
    actions: Sequence[Action]
    addresses: EntryPaths
    open_scopes: Sequence[str] = ()
    further: Sequence[FurtherAgent] = ()


def describe(declared: SiteDescription) -> Document:
    """Return the file of a desk: what is served and enforced, and nothing else.

    It has no ``Generated-At``, so that the same desk gives the same bytes after every start.
    """
    site, settings = declared.site, declared.settings
    told = tuple(_CapabilityWriter(declared).told())
    blocks = declared.agents if declared.limits.enabled else ()
    return Document(
        site=SiteInfo(
            name=one_line(site.name) or site.url,
            url=site.url,
            description=one_line(site.description) or None,
            contact=site.contact.email or None,
            privacy_policy=_absolute(site, settings.privacy_policy) or None,
        ),
        capabilities=tuple(one.capability for one in told),
        access=Access(allow=settings.allow, disallow=settings.disallow),
        agents=dict(list_policies(blocks, told)),
        metadata={AGENTS_JSON: site.url + JSON_PATH},
    )


def check_ids(
    settings: AgentsTxt, actions: Iterable[str], further: Sequence[str] = ()
) -> Iterator[Problem]:
    """Yield conflicts that would give two blocks of a file the same id.

    Parameters:
        actions: the names of all that the site may come to have.
        further: the names of further site agents.
    """
    taken = set(map(make_action_id, actions))
    desks = set(map(_threads_of, further))
    if len(desks) < len(further):
        yield Problem("agents.name", "two of them differ only in _ and -; rename one.")
    own_ids = OWN_IDS | desks
    for id_ in sorted(own_ids & taken):
        yield Problem(
            "agents_txt", f"the action {id_!r} has a name that the desk uses itself; rename it."
        )
    for own in settings.capability:
        if own.id in own_ids or own.id in taken:
            yield Problem(
                "agents_txt.capability.id",
                f"the desk uses the id {own.id!r} itself; choose another.",
            )


def _threads_of(agent: str) -> str:
    """Return the id of a further site agent's conversations."""
    return _id_below(THREADS, agent)


def _id_below(id_: str, agent: str) -> str:
    return f"{id_}-{make_action_id(agent)}"


class _CapabilityWriter:
    """Writes the capability blocks of one site."""

    def __init__(self, declared: SiteDescription) -> None:
        self._declared = declared
        self._site = declared.site
        self._addresses = declared.addresses
        self._docs = (
            _absolute(self._site, declared.settings.auth_docs)
            or self._site.contact_url
            or f"{self._site.url}/"
        )

    def told(self) -> Iterator[AgentBlock]:
        """Yield all blocks: entry points, actions, further agents, the owner's own."""
        declared, addresses = self._declared, self._addresses
        converse = Capability(
            id=CONVERSE,
            endpoint=self._site.url + addresses.converse,
            method="POST",
            protocol="REST",
            description=(
                "Ask a question over the Agent Handshake Protocol (AHP 0.1) and get an answer"
                " with its sources."
            ),
            rate_limit=_limit(declared.limits, "converse", most=declared.limits.agent_per_minute),
            parameters=(
                make_body_parameter("ahp", "The version: 0.1."),
                make_body_parameter("capability", "The capability, such as content_search."),
                *QUESTION,
                make_body_parameter(
                    "session_id", "The session_id of an earlier response.", is_required=False
                ),
            ),
        )
        yield AgentBlock(CONVERSE, converse)
        own = tuple(self._protocols(self._site.url, declared.limits, declared.actions))
        yield from own
        endpoints = [self._own(one) for one in declared.settings.capability]
        taken = {converse.id, *(one.capability.id for one in own), *(one.id for one in endpoints)}
        for one in declared.further:
            yield from self._further(one, taken)
        yield from (AgentBlock(endpoint.id, endpoint) for endpoint in endpoints)

    def _further(self, one: FurtherAgent, taken: set[str]) -> Iterator[AgentBlock]:
        """Yield a further site agent's blocks, with ids that end in its name.

        Parameters:
            taken: the ids of other blocks; those of these are added.
        """
        agent = one.agent
        title = one_line(agent.title) or agent.name
        replace = msgspec.structs.replace
        for told in self._protocols(f"{self._site.url}/{agent.name}", one.limits, one.actions):
            id_ = named = _id_below(told.of, agent.name)
            number = 2
            while id_ in taken:
                id_, number = f"{named}-{number}", number + 1
            taken.add(id_)
            about = told.capability.description
            if told.of == THREADS:
                about = one_line(agent.description) or f"Conversations with {title}."
            yield AgentBlock(told.of, replace(told.capability, id=id_, description=about))

    def _protocols(
        self, url: str, limits: Limits, actions: Sequence[Action]
    ) -> Iterator[AgentBlock]:
        """Yield the entry points that every site agent has.

        Parameters:
            url: the prefix of its addresses.
        """
        addresses = self._addresses
        yield AgentBlock(
            THREADS,
            Capability(
                id=THREADS,
                endpoint=url + addresses.threads,
                method="POST",
                protocol="REST",
                description="Open and continue a conversation that is stored (AITP 0.1).",
                rate_limit=_limit(limits, "converse"),
            ),
        )
        served: tuple[tuple[str, Literal["MCP", "A2A"], str, str], ...] = (
            (MCP, "MCP", addresses.mcp, "All actions of the site as tools, and its pages."),
            (A2A, "A2A", addresses.a2a, "Tasks and messages from agent to agent."),
        )
        for id_, protocol, path, about in served:
            if path:
                yield AgentBlock(
                    id_,
                    Capability(
                        id=id_,
                        endpoint=url + path,
                        protocol=protocol,
                        description=about,
                        rate_limit=_limit(limits, "converse"),
                    ),
                )
        if addresses.nlweb:
            yield AgentBlock(
                NLWEB,
                Capability(
                    id=NLWEB,
                    endpoint=url + addresses.nlweb,
                    method="POST",
                    protocol="REST",
                    description="Questions, answered with schema.org objects (NLWeb).",
                    rate_limit=_limit(limits, "converse"),
                    parameters=QUESTION,
                ),
            )
        for action in actions if addresses.actions else ():
            yield AgentBlock(make_action_id(action.name), self._action(action, url, limits))

    def _action(self, action: Action, url: str, limits: Limits) -> Capability:
        is_known = not action.is_open
        openapi = self._addresses.openapi
        return Capability(
            id=make_action_id(action.name),
            endpoint=f"{url}{self._addresses.actions}{action.name}",
            method="POST",
            protocol="REST",
            auth=self._auth(action) if is_known else Auth(),
            scopes=(_scope(action),) if is_known and self._addresses.token else (),
            rate_limit=_limit(
                limits,
                "known" if is_known else "converse",
                most=0 if action.kind == "query" else limits.actions_per_minute,
            ),
            description=one_line(action.summary) or action.name,
            openapi=f"{url}{openapi}" if openapi else None,
            parameters=list_parameters(action),
        )

    def _auth(self, action: Action) -> Auth:
        """Return the authentication of an action that needs a credential (section 6)."""
        url, addresses = self._site.url, self._addresses
        if not addresses.token:
            return Auth(type="api-key", docs_url=self._docs)
        registers = addresses.register and _is_given(action, self._declared.open_scopes)
        return Auth(
            type="oauth2",
            token_endpoint=url + addresses.token,
            docs_url=self._docs,
            registration_endpoint=url + addresses.register if registers else None,
        )

    def _own(self, own: OwnCapability) -> Capability:
        """Return the owner's own endpoint, which the desk does not serve."""
        site = self._site
        docs = _absolute(site, own.auth_docs) or ("" if own.auth == "none" else self._docs)
        requests, _, window = own.rate_limit.partition("/")
        return Capability(
            id=own.id,
            endpoint=_absolute(site, own.endpoint, is_socket=own.protocol == "WebSocket"),
            method=own.method or None,
            protocol=own.protocol,
            auth=Auth(
                type=own.auth,
                token_endpoint=_absolute(site, own.auth_endpoint) or None,
                docs_url=docs or None,
                registration_endpoint=_absolute(site, own.registration_endpoint) or None,
            ),
            scopes=own.scopes,
            rate_limit=RateLimit(int(requests), window) if requests else None,
            description=one_line(own.description) or own.id,
            openapi=_absolute(site, own.openapi) or None,
            parameters=tuple(map(make_own_parameter, own.parameters)),
        )


def _limit(limits: Limits, whose: Literal["converse", "known"], most: int = 0) -> RateLimit | None:
    """Return a caller's requests a minute (section 7); None without a limit.

    Parameters:
        whose: of callers without a credential, or of those with one.
        most: a further limit; 0 for none.
    """
    if not limits.enabled:
        return None
    known = whose == "known"
    requests = limits.authenticated_per_minute if known else limits.converse_per_minute
    return RateLimit(min(requests, most) if most else requests, "minute")


def _is_given(action: Action, open_scopes: Sequence[str]) -> bool:
    """Return whether a self-registered client may call an action."""
    return "actions" in open_scopes or _scope(action) in open_scopes


def _scope(action: Action) -> str:
    return f"actions:{action.name}"


def _absolute(site: Site, address: str, *, is_socket: bool = False) -> str:
    """Return an address of the site as a full URL; empty without one."""
    if not address.startswith("/"):
        return address
    origin = f"ws{site.url.removeprefix('http')}" if is_socket else site.url
    return origin + address
