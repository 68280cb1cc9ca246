"""Settings of the transport for Telegram."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Url


class TelegramSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A Telegram bot through which people write to the desk."""

    username: Annotated[
        Annotated[str, Meta(pattern=r"\A[A-Za-z][A-Za-z0-9_]{3,31}\Z")],
        Meta(
            extra={"unit": "a user name"},
            description="The bot's user name, without @: groups mention it.",
        ),
    ]
    token_env: Annotated[
        Variable, Meta(description="The environment variable with the bot's token.")
    ] = "TELEGRAM_BOT_TOKEN"  # noqa: S105 -- a name
    updates: Annotated[
        Literal["webhook", "polling"],
        Meta(
            description=(
                "How messages arrive: webhook, Telegram calls the desk, whose address must be"
                " public and https; polling, the desk asks Telegram."
            )
        ),
    ] = "webhook"
    api: Annotated[Url, Meta(description="The address of the Bot API.")] = (
        "https://api.telegram.org"
    )
