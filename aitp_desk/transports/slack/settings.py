"""Settings of the Slack transport: ``[transports.slack]``."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Url


class SlackSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Slack: people write to the desk in channels and direct messages of a workspace."""

    mode: Annotated[
        Literal["events", "socket"],
        Meta(
            description="How Slack reaches the desk: events, by requests to its addresses; socket, "
            "over a connection that the desk opens, without a public address."
        ),
    ] = "events"
    bot_token_env: Annotated[
        Variable,
        Meta(description="The environment variable that holds the bot token (xoxb-)."),
    ] = "SLACK_BOT_TOKEN"  # noqa: S105 -- a name
    signing_secret_env: Annotated[
        Variable,
        Meta(description="The one that holds the app's signing secret; for the mode events."),
    ] = "SLACK_SIGNING_SECRET"  # noqa: S105 -- a name
    app_token_env: Annotated[
        Variable,
        Meta(description="The one that holds the app-level token (xapp-); for the mode socket."),
    ] = "SLACK_APP_TOKEN"  # noqa: S105 -- a name
    api_url: Annotated[Url, Meta(description="The address of Slack's Web API.")] = (
        "https://slack.com/api/"
    )
    files_url: Annotated[
        Url,
        Meta(
            description="The address of Slack's files; the bot token is sent to no other with them."
        ),
    ] = "https://files.slack.com/"
