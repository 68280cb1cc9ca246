"""Settings of the transport for WhatsApp."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Url

_Name = Annotated[str, Meta(pattern=r"\A(?:[a-z0-9_]{1,512})?\Z")]
_Language = Annotated[str, Meta(pattern=r"\A[a-z]{2,3}(?:_[A-Za-z]{2,4})?\Z")]


class WhatsAppSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A business phone number through which people write to the desk."""

    phone_number_id: Annotated[
        Annotated[str, Meta(pattern=r"\A[1-9][0-9]{4,24}\Z")],
        Meta(
            extra={"unit": "an id"},
            description="The id of the business phone number; it is not the number itself.",
        ),
    ]
    phone_number: Annotated[
        Annotated[str, Meta(pattern=r"\A(?:[1-9][0-9]{4,19})?\Z")],
        Meta(
            extra={"unit": "digits"},
            description=(
                "The number itself, with the country's code and without + or spaces: for links"
                " that open a chat. Empty for no links."
            ),
        ),
    ] = ""
    token_env: Annotated[
        Variable, Meta(description="The environment variable with the access token.")
    ] = "WHATSAPP_ACCESS_TOKEN"  # noqa: S105 -- a name
    app_secret_env: Annotated[
        Variable, Meta(description="The environment variable with the app's secret.")
    ] = "WHATSAPP_APP_SECRET"  # noqa: S105
    verify_token_env: Annotated[
        Variable,
        Meta(
            description=(
                "The environment variable with a word of your choice that Meta shows when it"
                " verifies the webhook."
            )
        ),
    ] = "WHATSAPP_VERIFY_TOKEN"  # noqa: S105
    template: Annotated[
        _Name,
        Meta(
            extra={"unit": "a name"},
            description=(
                "The approved template that carries a message later than 24 hours after the"
                " person's last one; its body has one variable. Empty for none."
            ),
        ),
    ] = ""
    template_language: Annotated[
        _Language,
        Meta(extra={"unit": "a language"}, description="The template's language, such as en_US."),
    ] = "en"
    api: Annotated[Url, Meta(description="The address of the Graph API.")] = (
        "https://graph.facebook.com"
    )
    version: Annotated[
        Annotated[str, Meta(pattern=r"\Av[0-9]{2}\.[0-9]\Z")],
        Meta(extra={"unit": "a version"}, description="The version of the Graph API."),
    ] = "v26.0"
