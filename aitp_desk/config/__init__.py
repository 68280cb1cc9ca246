"""What the site owner decides: ``desk.toml`` and ``--set``, as one frozen, typed :class:`Config`.

Only ``app.py`` and the command line hold the whole; everything else is given its section.
"""

from aitp_desk.config.action_terms import ActionTerms
from aitp_desk.config.agents_txt import AgentsTxt, OwnCapability
from aitp_desk.config.callbacks import CallbackSettings
from aitp_desk.config.claude import Claude
from aitp_desk.config.content import Content, Signals, Web
from aitp_desk.config.cors import Cors
from aitp_desk.config.files import Files
from aitp_desk.config.issuers import Issuer
from aitp_desk.config.limits import (
    EVERYBODY,
    THREADS,
    AgentLimits,
    Concurrency,
    Limits,
    Tier,
)
from aitp_desk.config.load import ConfigError, load_config
from aitp_desk.config.mcp import Mcp, ToolTerms
from aitp_desk.config.notify import Notify
from aitp_desk.config.oauth import OAuth, Registration
from aitp_desk.config.openapi import OpenApi, OperationTerms
from aitp_desk.config.problem import Problem
from aitp_desk.config.retention import Retention
from aitp_desk.config.rules import RESERVED, check_public, default_url
from aitp_desk.config.server import Events, Server
from aitp_desk.config.settings import (
    Cache,
    Config,
    Contact,
    Log,
    Sessions,
    Site,
    SiteAgent,
    StoreSettings,
)
from aitp_desk.config.threads import Threads
from aitp_desk.config.tickets import Tickets

__all__ = [
    "EVERYBODY",
    "RESERVED",
    "THREADS",
    "ActionTerms",
    "AgentLimits",
    "AgentsTxt",
    "Cache",
    "CallbackSettings",
    "Claude",
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
    "Notify",
    "OAuth",
    "OpenApi",
    "OperationTerms",
    "OwnCapability",
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
    "check_public",
    "default_url",
    "load_config",
]
