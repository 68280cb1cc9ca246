"""Stripe's settings, and its keys in the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

KEY_VARIABLE = "STRIPE_API_KEY"
SECRET_VARIABLE = "STRIPE_WEBHOOK_SECRET"  # noqa: S105 -- the name of a variable
_LIVE = ("sk_live_", "rk_live_")
_TEST = ("sk_test_", "rk_test_")


class StripeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[capabilities.payments.stripe]``. Keys are in the environment alone.

    Parameters:
        publishable_key: lets programs make payment methods of cards, and pay by them at once;
            without it people pay only on Stripe's own page.
        return_url: where people go after payment; empty for the site's home page.
        kinds: the accepted payment method types of Stripe; empty for those enabled in its
            dashboard.
        api: the API's URL; another in tests alone.
    """

    publishable_key: Annotated[str, Meta(pattern="^(|pk_(test|live)_[A-Za-z0-9]{1,240})$")] = ""
    return_url: Annotated[str, Meta(pattern="^(|https?://[!-~]{1,1000})$")] = ""
    kinds: Annotated[
        tuple[Annotated[str, Meta(pattern="^[a-z0-9_]{1,40}$")], ...], Meta(max_length=20)
    ] = ("card",)
    api: Annotated[str, Meta(pattern="^https?://[!-~]+[^/]$")] = "https://api.stripe.com"


class Keys(msgspec.Struct, frozen=True):
    """The account's secrets. Their text form shows none.

    Parameters:
        api: the account's API key.
        webhook: the secret that signs events; empty for no webhook.
    """

    api: str
    webhook: str

    @property
    def is_live(self) -> bool:
        """Whether real money moves."""
        return self.api.startswith(_LIVE)

    def __repr__(self) -> str:
        return f"Keys(is_live={self.is_live})"


def read_keys(environment: Mapping[str, str], settings: StripeSettings) -> Keys:
    """Read the keys from the environment.

    Raises:
        ValueError: the key is missing or of another type; the text contains no key.
    """
    api = environment.get(KEY_VARIABLE, "").strip()
    if not api.startswith(_LIVE + _TEST):
        raise ValueError(
            f"payments by Stripe need a secret or restricted key in {KEY_VARIABLE}, such as"
            " sk_test_… or rk_live_…, from dashboard.stripe.com/apikeys."
        )
    keys = Keys(api, environment.get(SECRET_VARIABLE, "").strip())
    if keys.webhook and not keys.webhook.startswith("whsec_"):
        raise ValueError(f"{SECRET_VARIABLE} must be a webhook's signing secret, such as whsec_….")
    if settings.publishable_key and settings.publishable_key.startswith("pk_live_") != keys.is_live:
        raise ValueError(
            f"stripe.publishable_key and {KEY_VARIABLE} must both be live keys, or both test keys."
        )
    return keys
