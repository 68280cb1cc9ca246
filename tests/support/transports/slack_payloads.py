"""What Slack sends: events, interactions and commands, as its documentation shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

TEAM = "T024BE7LD"
APP = "A0KRD7HC3"
BOT_USER = "U0BOT00001"
BOT = "B0KRQLJ4R"
PERSON = "U061F7AUR"
CHANNEL = "C024BE91L"
DIRECT = "D024BE91L"


def envelope(event: Mapping[str, Any], event_id: str = "Ev08MFMKH6", **more: Any) -> dict[str, Any]:
    """Return what the Events API sends for an event."""
    return {
        "token": "XXYYZZ",
        "team_id": TEAM,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": 1355517523,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": "4-eyJldCI6Im1lc3NhZ2UifQ",
        **more,
    }


def message(
    text: str, *, channel: str = DIRECT, ts: str = "1355517523.000005", **more: Any
) -> dict[str, Any]:
    """Return the event ``message`` of a person."""
    return {
        "type": "message",
        "channel": channel,
        "user": PERSON,
        "text": text,
        "ts": ts,
        "event_ts": ts,
        "channel_type": "im" if channel[0] == "D" else "channel",
        "team": TEAM,
        **more,
    }


def mention(text: str, **more: Any) -> dict[str, Any]:
    """Return the event ``app_mention``."""
    found = message(text, **{"channel": CHANNEL, **more})
    del found["channel_type"]
    return {**found, "type": "app_mention"}


def change(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event of a changed message."""
    return {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": new["channel"],
        "channel_type": "im",
        "ts": "1355517536.000001",
        "event_ts": "1355517536.000001",
        "message": {**new, "edited": {"user": PERSON, "ts": "1355517536.000000"}},
        "previous_message": dict(old),
    }


def removal(old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event of a deleted message."""
    return {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "channel": old["channel"],
        "channel_type": "im",
        "ts": "1355517546.000001",
        "event_ts": "1355517546.000001",
        "deleted_ts": old["ts"],
        "previous_message": dict(old),
    }


def shared_file(
    url: str, *, name: str = "boots.png", size: int = 3, id: str = "F2147483862"
) -> dict[str, Any]:
    """Return a file of a message."""
    return {
        "id": id,
        "created": 1531763342,
        "timestamp": 1531763342,
        "name": name,
        "title": name,
        "mimetype": "image/png",
        "filetype": "png",
        "pretty_type": "PNG",
        "user": PERSON,
        "mode": "hosted",
        "size": size,
        "is_external": False,
        "is_public": True,
        "url_private": url,
        "url_private_download": url,
        "permalink": f"https://example.slack.com/files/{PERSON}/{id}/{name}",
        "file_access": "visible",
    }


def press(
    action_id: str,
    value: str | None,
    *,
    channel: str = DIRECT,
    ts: str = "1548261231.000200",
    thread: str | None = None,
    user: str = PERSON,
    trigger_id: str = "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
    action_ts: str = "1548426417.840180",
    label: str = "View",
    shown: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the interaction of a pressed button.

    Parameters:
        shown: the message with the button, as it was posted.
    """
    in_thread = {"thread_ts": thread} if thread else {}
    action: dict[str, Any] = {
        "action_id": action_id,
        "block_id": "=qXel",
        "text": {"type": "plain_text", "text": label, "emoji": True},
        "type": "button",
        "action_ts": action_ts,
    }
    if value is not None:
        action["value"] = value
    return {
        "type": "block_actions",
        "team": {"id": TEAM, "domain": "example"},
        "user": {"id": user, "username": "ada", "name": "ada", "team_id": TEAM},
        "api_app_id": APP,
        "token": "9s8d9as89d8as9d8as989",
        "container": {
            "type": "message",
            "message_ts": ts,
            "channel_id": channel,
            "is_ephemeral": False,
            **in_thread,
        },
        "trigger_id": trigger_id,
        "channel": {"id": channel, "name": "directmessage"},
        "message": {
            "type": "message",
            "user": BOT_USER,
            "bot_id": BOT,
            "ts": ts,
            "text": "Shall I?",
            "blocks": [],
            **(shown or {}),
            **in_thread,
        },
        "response_url": f"https://hooks.slack.com/actions/{TEAM}/1232321423432/D09sSasdasdAS9091",
        "enterprise": None,
        "is_enterprise_install": False,
        "state": {"values": {}},
        "actions": [action],
    }


def submission(
    view: Mapping[str, Any], values: Mapping[str, Any], *, id: str = "VNHU13V36", user: str = PERSON
) -> dict[str, Any]:
    """Return the interaction of a submitted modal.

    Parameters:
        view: as it was opened.
        values: ``state.values``.
    """
    return {
        "type": "view_submission",
        "team": {"id": TEAM, "domain": "example"},
        "user": {"id": user, "username": "ada", "name": "ada", "team_id": TEAM},
        "api_app_id": APP,
        "token": "9s8d9as89d8as9d8as989",
        "trigger_id": "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb4",
        "view": {
            **view,
            "id": id,
            "team_id": TEAM,
            "app_id": APP,
            "bot_id": BOT,
            "hash": "1563522128.b7f5d1ac",
            "state": {"values": values},
            "root_view_id": id,
            "previous_view_id": None,
        },
        "response_urls": [],
        "enterprise": None,
    }


def command(
    text: str,
    *,
    user: str = PERSON,
    trigger_id: str = "13345224609.738474920.8088930838d88f008e0",
) -> dict[str, str]:
    """Return the fields of a slash command."""
    return {
        "token": "gIkuvaNzQIHg97ATvDxqgjtO",
        "team_id": TEAM,
        "team_domain": "example",
        "channel_id": CHANNEL,
        "channel_name": "general",
        "user_id": user,
        "user_name": "ada",
        "command": "/ask",
        "text": text,
        "response_url": f"https://hooks.slack.com/commands/{TEAM}/1234/5678",
        "trigger_id": trigger_id,
        "api_app_id": APP,
        "is_enterprise_install": "false",
    }


def filled_in(blocks: Sequence[Mapping[str, Any]], values: Mapping[str, str]) -> dict[str, Any]:
    """Return ``state.values`` of a modal, as a person fills its inputs in.

    Parameters:
        values: by block id; several choices are divided by commas.
    """
    state: dict[str, Any] = {}
    for block in blocks:
        if block["type"] == "input":
            element = block["element"]
            value = values.get(block["block_id"], "")
            state[block["block_id"]] = {element["action_id"]: _state(element, value)}
    return state


def _state(element: Mapping[str, Any], value: str) -> dict[str, Any]:
    kind = element["type"]
    found: dict[str, Any] = {"type": kind}
    match kind:
        case "plain_text_input" | "number_input":
            found["value"] = value or None
        case "datepicker":
            found["selected_date"] = value or None
        case "static_select":
            found["selected_option"] = _options(element, (value,))[0] if value else None
        case "checkboxes" | "multi_static_select":
            chosen = tuple(value.split(",")) if value not in {"", "false"} else ()
            found["selected_options"] = _options(element, chosen)
        case _:
            raise AssertionError(f"No modal of the desk has the element {kind}.")
    return found


def _options(element: Mapping[str, Any], values: Sequence[str]) -> list[Any]:
    by_value = {option["value"]: option for option in element["options"]}
    return [by_value[value] for value in values]


def encode(payload: Mapping[str, Any]) -> bytes:
    """Return the body of an event."""
    return json.dumps(payload).encode()


def encode_interaction(payload: Mapping[str, Any]) -> bytes:
    """Return the body of an interaction: a form with one field."""
    return urlencode({"payload": json.dumps(payload)}).encode()
