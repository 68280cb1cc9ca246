"""What agents.txt tells of: the addresses of the doors that this process has.

A door that is new is told of here, by its path in :class:`Addresses`.
"""

from __future__ import annotations

from aitp_desk.config import Config, ConfigError
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.registry import OWN_NAMES
from aitp_desk.protocols.agents_txt.routes import AgentsTxtDoor
from aitp_desk.protocols.agents_txt.wire import Addresses, check_ids
from aitp_desk.protocols.ahp.error_wire import render_error
from aitp_desk.protocols.ahp.manifest import CONVERSE_PATH
from aitp_desk.protocols.oauth.metadata import REGISTER_PATH, TOKEN_PATH
from aitp_desk.protocols.openapi.routes import DOCUMENT_PATH
from aitp_desk.protocols.openapi.wire import CAPABILITIES_PATH
from aitp_desk.protocols.reply import Door

THREADS_PATH = "/v1/threads"


def make_agents_txt_doors(desk: Desk, config: Config) -> tuple[Door, ...]:
    """What tells agents of all the doors; none where that is switched off.

    Parameters:
        desk: the site's own.
        config: the site's.

    Raises:
        ConfigError: something of the owner's has the name of something that the desk does.
    """
    if not config.agents_txt.enabled:
        return ()
    names = {*OWN_NAMES, *(action.name for action in desk.registry.actions)}
    further = [agent.name for agent in config.agents]
    if problems := tuple(check_ids(config.agents_txt, names, further)):
        raise ConfigError(problems, config)
    door = AgentsTxtDoor(desk, config, _addresses(config), render_error)
    return (door.door(),)


def _addresses(config: Config) -> Addresses:
    """Where the doors are that are open with these settings."""
    gives_tokens = config.oauth.enabled
    registers = gives_tokens and config.oauth.registration.enabled
    calls = config.rest.enabled
    return Addresses(
        converse=CONVERSE_PATH,
        threads=THREADS_PATH,
        actions=CAPABILITIES_PATH if calls else "",
        openapi=DOCUMENT_PATH if calls else "",
        token=TOKEN_PATH if gives_tokens else "",
        register=REGISTER_PATH if registers else "",
    )
