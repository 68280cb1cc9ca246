"""Settings of the server through which several processes share short-lived state."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Url


class ValkeySettings(msgspec.Struct, frozen=True, kw_only=True):
    """A Valkey or Redis server, through which several processes share limits and answers."""

    url: Annotated[
        Url,
        Meta(
            description=(
                "The server, such as redis://127.0.0.1:6379/0, rediss:// with TLS or unix:///path;"
                " empty for none. Needs the extra redis."
            ),
        ),
    ] = ""
    password_env: Annotated[
        Variable, Meta(description="The environment variable with the server's password.")
    ] = ""
