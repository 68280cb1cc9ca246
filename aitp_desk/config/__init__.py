"""The site owner's settings, ``desk.toml`` and ``--set``, as one frozen :class:`Config`.

Only the application and the command line use the whole; other parts receive their section.
"""

from aitp_desk.config.load import ConfigError, load_config
from aitp_desk.config.problem import Problem
from aitp_desk.config.rules.settings_rules import RESERVED, check_public, default_url
from aitp_desk.config.sections.access.issuers import Issuer
from aitp_desk.config.sections.access.limits import (
    EVERYBODY,
    THREADS,
    AgentLimits,
    Concurrency,
    Limits,
    Tier,
)
from aitp_desk.config.sections.access.oauth import OAuth, Registration
from aitp_desk.config.sections.actions.action_terms import ActionTerms
from aitp_desk.config.sections.actions.mcp import Mcp, ToolTerms
from aitp_desk.config.sections.actions.openapi import OpenApi, OperationTerms
from aitp_desk.config.sections.actions.peers import Peer, PeerActionTerms
from aitp_desk.config.sections.content.content import Content, Signals, Web
from aitp_desk.config.sections.content.model import Model, ModelChoice
from aitp_desk.config.sections.files import Files
from aitp_desk.config.sections.log import Log
from aitp_desk.config.sections.people import Notify, Tickets
from aitp_desk.config.sections.protocols.agents_txt import AgentsTxt, OwnCapability
from aitp_desk.config.sections.protocols.endpoints import CallbackSettings, Cors
from aitp_desk.config.sections.retention import Retention
from aitp_desk.config.sections.server import Events, Server
from aitp_desk.config.sections.threads import Threads
from aitp_desk.config.sections.widget import Widget
from aitp_desk.config.settings import (
    MAIL,
    Cache,
    Config,
    Contact,
    Sessions,
    Site,
    SiteAgent,
    StoreSettings,
)

__all__ = [
    "EVERYBODY",
    "MAIL",
    "RESERVED",
    "THREADS",
    "ActionTerms",
    "AgentLimits",
    "AgentsTxt",
    "Cache",
    "CallbackSettings",
    "Concurrency",
    "Config",
    "ConfigError",
    "Contact",
    "Content",
    "Cors",
    "Events",
    "Files",
    "Issuer",
    "Limits",
    "Log",
    "Mcp",
    "Model",
    "ModelChoice",
    "Notify",
    "OAuth",
    "OpenApi",
    "OperationTerms",
    "OwnCapability",
    "Peer",
    "PeerActionTerms",
    "Problem",
    "Registration",
    "Retention",
    "Server",
    "Sessions",
    "Signals",
    "Site",
    "SiteAgent",
    "StoreSettings",
    "Threads",
    "Tickets",
    "Tier",
    "ToolTerms",
    "Web",
    "Widget",
    "check_public",
    "default_url",
    "load_config",
]
