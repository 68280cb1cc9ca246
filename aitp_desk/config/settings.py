"""Every section of ``desk.toml`` with the type, bounds, unit and default of each setting.

A section is a Struct and a setting is a field of it. The loader (``load.py``), the starter file of
``aitp-desk init`` and the table in ``docs/run/configuration.md`` are made from :class:`Config` and
its sections, the larger of which have their own file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.access.issuers import Issuer
from aitp_desk.config.sections.access.limits import AgentLimits, Concurrency, Limits, Tier
from aitp_desk.config.sections.access.oauth import OAuth
from aitp_desk.config.sections.access.signatures import (
    SignatureAgent,
    SignatureSettings,
    SignedRequestSettings,
)
from aitp_desk.config.sections.actions.actions import Actions
from aitp_desk.config.sections.actions.mcp import Mcp
from aitp_desk.config.sections.actions.openapi import OpenApi
from aitp_desk.config.sections.actions.peers import Peer
from aitp_desk.config.sections.content.content import Content, Enrich
from aitp_desk.config.sections.content.model import Model
from aitp_desk.config.sections.files import Files
from aitp_desk.config.sections.log import Log
from aitp_desk.config.sections.people import ConsoleSettings, Notify, Tickets
from aitp_desk.config.sections.protocols.agents_txt import AgentsTxt
from aitp_desk.config.sections.protocols.endpoints import (
    A2a,
    Ahp,
    CallbackSettings,
    Cors,
    Hac,
    McpServer,
    Nlweb,
    Rest,
)
from aitp_desk.config.sections.retention import Retention
from aitp_desk.config.sections.server import Events, Server
from aitp_desk.config.sections.threads import Threads
from aitp_desk.config.sections.tracing import Tracing
from aitp_desk.config.sections.valkey import ValkeySettings
from aitp_desk.config.sections.widget import Widget
from aitp_desk.config.units import (
    Bytes,
    Count,
    Line,
    Seconds,
    Tag,
    Url,
)

DESK_FILE = "desk.toml"
"""The settings file in the site's folder."""
DATA_FOLDER = ".desk"
"""The default data folder, below the site's folder."""

UNNAMED = "My site"
"""The name of a site that has none."""
MAX_NAME = 200
MAIL = "email"
"""The transport whose people are email addresses."""
MODULE = r"\A(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?\Z"
"""The name of a Python module, or nothing."""


class Contact(msgspec.Struct, frozen=True, kw_only=True):
    """How visitors reach the people behind the site. Empty settings are not shown."""

    email: Annotated[str, Meta(description="Email address for visitors.")] = ""
    phone: Annotated[str, Meta(description="Telephone number for visitors.")] = ""
    url: Annotated[
        Url,
        Meta(description="Page with more ways to get in touch: a URL or a path such as /contact."),
    ] = ""


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """The website that the desk serves."""

    name: Annotated[
        Line,
        Meta(
            max_length=MAX_NAME,
            description="The site's name; by default the heading of the home page, or of a README.",
        ),
    ] = UNNAMED
    description: Annotated[
        str, Meta(description="What the site is about, in a sentence or two.")
    ] = ""
    url: Annotated[
        Url,
        Meta(
            description="Public address of the desk, the base of every absolute URL; by default "
            "http://HOST:PORT.",
        ),
    ] = ""
    language: Annotated[
        Tag,
        Meta(
            description=(
                "Default language (BCP 47) of pages, of visitors without a preferred "
                "language, and of the desk's own texts."
            )
        ),
    ] = "en"
    languages: Annotated[
        tuple[Tag, ...],
        Meta(
            extra={"unit": "language tags"},
            description="Further languages, with a folder each, such as fr/, or with pages that no "
            "other language has.",
        ),
    ] = ()
    timezone: Annotated[
        str,
        Meta(
            max_length=64,
            pattern=r"\A[A-Za-z0-9_+/-]+\Z",
            extra={"unit": "a time zone such as Europe/Vienna"},
            description="Time zone of the site (IANA), for phrases such as tomorrow, or 3 pm.",
        ),
    ] = "UTC"
    answer_characters: Annotated[
        Annotated[int, Meta(ge=100, le=1100)],
        Meta(
            extra={"unit": "characters"},
            description="The approximate length of a quoted section in an answer without a model.",
        ),
    ] = 600
    actions: Annotated[
        str,
        Meta(
            max_length=200,
            pattern=MODULE,
            extra={"unit": "a name"},
            description=(
                "Python module that declares the site's own actions, next to desk.toml or"
                " installed; empty for none. By default actions.py, if it exists."
            ),
        ),
    ] = "actions"
    contact: Contact = Contact()

    def named(self, name: str) -> Site:
        """Return the site with this name if it has none. An empty name changes nothing."""
        if self.name != UNNAMED or not name:
            return self
        return msgspec.structs.replace(self, name=name[:MAX_NAME])

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the site.

        Raises:
            ZoneInfoNotFoundError: it does not exist; the rules of the configuration refuse it.
        """
        return ZoneInfo(self.timezone)

    @property
    def contact_url(self) -> str:
        """The contact page as an absolute URL; empty for none."""
        page = self.contact.url
        return self.url + page if page.startswith("/") else page


class Sessions(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of AHP sessions."""

    max_turns: Annotated[
        Count, Meta(extra={"unit": "turns"}, description="The most turns of a session.")
    ] = 10
    idle_seconds: Annotated[
        Seconds, Meta(description="The time that a session is kept after its last turn.")
    ] = 600
    memory_bytes: Annotated[
        Bytes, Meta(description="How much of the earlier conversation the agent receives.")
    ] = 8 * 1024


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The data folder, the database, and when a write is complete."""

    url: Annotated[
        Line,
        Meta(
            extra={"unit": "a URL"},
            description=(
                "The database: sqlite: followed by a path, relative to the data folder, or"
                " postgresql://USER@HOST/DATABASE."
            ),
        ),
    ] = "sqlite:desk.db"
    data: Annotated[
        Line,
        Meta(
            extra={"unit": "a path"},
            description=(
                "The data folder, with master key and database, relative to the site's folder;"
                " --data has priority. No web server may publish it."
            ),
        ),
    ] = DATA_FOLDER
    synchronous: Annotated[
        Literal["full", "normal"],
        Meta(
            description=(
                "Of SQLite. Both keep every acknowledged message if the process is killed; normal "
                "is faster, but may lose the last commits in a power failure."
            ),
        ),
    ] = "full"
    query_turns: Annotated[
        Literal["behind", "durable"],
        Meta(
            description=(
                "Whether an AHP answer is sent before its record is on disk (at most 100 ms"
                " earlier) or after."
            ),
        ),
    ] = "behind"
    queue: Annotated[
        Count,
        Meta(
            extra={"unit": "writes"},
            description="The most waiting writes; further callers are refused.",
        ),
    ] = 10_000
    connections: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        Meta(
            extra={"unit": "connections"},
            description=(
                "The most connections that read from PostgreSQL; one more writes, one listens,"
                " one shows that the process lives."
            ),
        ),
    ] = 8
    statement_seconds: Annotated[
        Seconds, Meta(description="The longest time that a statement may take in PostgreSQL.")
    ] = 30
    pooler: Annotated[
        bool,
        Meta(
            description=(
                "The server of the URL is a pooler of transactions, such as PgBouncer: no"
                " statement stays prepared."
            ),
        ),
    ] = False
    direct_url: Annotated[
        Url,
        Meta(
            description=(
                "With a pooler, the same database past it, for notifications and signs of life;"
                " empty to look for changes each second."
            ),
        ),
    ] = ""


class Cache(msgspec.Struct, frozen=True, kw_only=True):
    """The cache of answers."""

    max_answers: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000)],
        Meta(extra={"unit": "answers"}, description="The most cached answers; 0 caches none."),
    ] = 1000
    max_bytes: Annotated[
        Bytes, Meta(description="The approximate memory of all cached answers.")
    ] = 32 * 1024 * 1024
    ttl_seconds: Annotated[Seconds, Meta(description="The time that an answer is reused.")] = 300


class EgressSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Requests to other servers, at URLs given by owners or callers."""

    allow_loopback: Annotated[
        bool,
        Meta(
            description=(
                "For tests only: requests to servers on this machine's loopback, without"
                " encryption. Never enable it on a desk that others can reach."
            ),
        ),
    ] = False


class SiteAgent(msgspec.Struct, frozen=True, kw_only=True):
    """A further site agent at a separate address. Repeatable.

    Its threads, content and limits are separate: [agents.content] and [agents.limits] below it take
    the settings of [content] and [limits].
    """

    name: Annotated[
        str,
        Meta(
            max_length=32,
            pattern=r"\A(?:[a-z][a-z0-9_-]*)?\Z",
            extra={"unit": "a name of small letters, digits, - and _"},
            description=(
                "The name in the agent's addresses: the agent books is at /books/v1/threads."
            ),
        ),
    ] = ""
    title: Annotated[
        str, Meta(max_length=200, description="The name for visitors; by default the name.")
    ] = ""
    description: Annotated[str, Meta(description="What the agent knows, in a sentence or two.")] = (
        ""
    )
    actions: Annotated[
        str,
        Meta(
            max_length=200,
            pattern=MODULE,
            extra={"unit": "a name"},
            description="Python module that declares the agent's actions, like site.actions; empty "
            "for none.",
        ),
    ] = ""
    content: Content = Content()
    limits: Limits = Limits()


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The complete, checked configuration.

    Parameters:
        folder: the site's folder, absolute.
        data: the data folder, absolute; it need not exist yet.
        notes: what the owner should change although it is accepted, such as former names.

    ``capabilities`` holds the settings of each enabled capability, by name; the capability
    validates them (``desk/plugins/discovery.py``). ``transports`` holds those of each transport
    (``transports/host/registry.py``).

    The others are the sections of ``desk.toml``. ``site.url`` has no final slash. It is empty only
    if the port is 0 and no URL is configured: the server sets it after binding the socket.
    """

    folder: Path
    data: Path
    notes: tuple[str, ...] = ()
    site: Site = Site()
    content: Content = Content()
    server: Server = Server()
    cors: Cors = Cors()
    widget: Widget = Widget()
    limits: Limits = Limits()
    agent_limits: tuple[AgentLimits, ...] = ()
    tiers: tuple[Tier, ...] = ()
    concurrency: Concurrency = Concurrency()
    threads: Threads = Threads()
    events: Events = Events()
    sessions: Sessions = Sessions()
    files: Files = Files()
    retention: Retention = Retention()
    signed_requests: SignedRequestSettings = SignedRequestSettings()
    signatures: SignatureSettings = SignatureSettings()
    signature_agents: tuple[SignatureAgent, ...] = ()
    store: StoreSettings = StoreSettings()
    valkey: ValkeySettings = ValkeySettings()
    cache: Cache = Cache()
    actions: Actions = Actions()
    openapi: tuple[OpenApi, ...] = ()
    mcp: tuple[Mcp, ...] = ()
    peers: tuple[Peer, ...] = ()
    ahp: Ahp = Ahp()
    agents_txt: AgentsTxt = AgentsTxt()
    egress: EgressSettings = EgressSettings()
    callbacks: CallbackSettings = CallbackSettings()
    console: ConsoleSettings = ConsoleSettings()
    tickets: Tickets = Tickets()
    notify: Notify = Notify()
    model: Model = Model()
    enrich: Enrich = Enrich()
    oauth: OAuth = OAuth()
    rest: Rest = Rest()
    mcp_server: McpServer = McpServer()
    hac: Hac = Hac()
    a2a: A2a = A2a()
    nlweb: Nlweb = Nlweb()
    log: Log = Log()
    tracing: Tracing = Tracing()
    agents: tuple[SiteAgent, ...] = ()
    issuers: tuple[Issuer, ...] = ()
    capabilities: dict[str, dict[str, Any]] = {}
    transports: dict[str, dict[str, Any]] = {}

    @property
    def content_folder(self) -> Path:
        """The folder of the content, absolute."""
        return real_path(self.folder / self.content.folder)

    def of_agent(self, agent: SiteAgent) -> Config:
        """Return the configuration of a further site agent: the site's with the agent's parts."""
        site = msgspec.structs.replace(
            self.site,
            name=agent.title or agent.name,
            description=agent.description,
            actions=agent.actions,
        )
        limits = msgspec.structs.replace(
            agent.limits, enabled=agent.limits.enabled and self.limits.enabled
        )
        return msgspec.structs.replace(
            self,
            site=site,
            content=agent.content,
            limits=limits,
            openapi=(),
            mcp=(),
            peers=(),
            agents_txt=AgentsTxt(enabled=False),
            agents=(),
        )


def real_path(place: Path) -> Path:
    """Resolve links; unlike ``Path.resolve`` this does not raise for a circle of links."""
    return Path(os.path.realpath(place))


def sqlite_path(url: str, data: Path) -> Path:
    """Return the file of a ``sqlite:`` URL; a relative one is below the data folder."""
    path = url.removeprefix("sqlite:")
    return data / (path.removeprefix("//") if path.startswith("///") else path)
