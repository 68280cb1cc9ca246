"""Rules for the models that answer."""

from __future__ import annotations

from collections.abc import Iterator

from aitp_desk.config.problem import Problem
from aitp_desk.config.sections.content.model import Model
from aitp_desk.model.web_address import web_address


def check_model(model: Model) -> Iterator[Problem]:
    """Yield faults of the models; the owner may name a server of any network."""
    for number, choice in enumerate(model.chain):
        section = "model.fallbacks" if number else "model"
        if choice.url and (wrong := _wrong_url(choice.url)):
            yield Problem(
                f"{section}.url", f"{wrong}; it takes one such as http://127.0.0.1:11434/v1."
            )
        if not choice.name:
            yield Problem(f"{section}.name", "name a model of this server.")


def _wrong_url(url: str) -> str | None:
    """Return the fault of a URL, which is not repeated: it may contain a key."""
    address = web_address(url)
    if address is None:
        return "is not a web address"
    if address.username is not None or address.password is not None:
        return "contains a user name or password; name the key's variable in key_env"
    return None
