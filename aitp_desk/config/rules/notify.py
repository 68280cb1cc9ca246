"""Rules for the settings of notifications beyond their types."""

from __future__ import annotations

from collections.abc import Iterator

from aitp_desk.config.problem import Problem
from aitp_desk.config.rules.web_address import wrong_address
from aitp_desk.config.sections.people.notify import Notify


def check_notify(
    notify: Notify, *, publishes_keys: bool, allow_loopback: bool
) -> Iterator[Problem]:
    """Yield the faults of notifications; no URL is repeated, for its key.

    Parameters:
        publishes_keys: whether the desk has keys by which its requests can be verified.
        allow_loopback: whether URLs of this machine are allowed.
    """
    if notify.webhook:
        if wrong := wrong_address(notify.webhook, allow_loopback=allow_loopback):
            yield Problem(
                "notify.webhook", f"{wrong}; it takes an address such as https://chat.example/desk."
            )
        if not publishes_keys:
            yield Problem(
                "notify.webhook", "is signed with the desk's keys; it takes oauth.enabled = true."
            )
    if notify.command and not notify.command[0].strip():
        yield Problem(
            "notify.command", "names no program; it takes one first, and then its arguments."
        )
