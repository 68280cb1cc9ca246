"""What the Cloud API refuses in a message, by its documentation."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

_TARGET = {"messaging_product", "recipient_type", "to", "recipient", "type", "context"}
_TARGET |= {"biz_opaque_callback_data"}
_TYPES: dict[str, set[str]] = {
    "text": {"body", "preview_url"},
    "image": {"id", "link", "caption"},
    "document": {"id", "link", "caption", "filename"},
    "interactive": {"type", "header", "body", "footer", "action"},
    "template": {"name", "language", "components"},
}


class Refusal(Exception):
    """An error of the API.

    Parameters:
        status: of HTTP.
        code: of the Graph API.
    """

    def __init__(self, status: int, code: int, message: str, details: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details


def check_message(body: dict[str, Any]) -> None:
    """Refuse a message that is not as the documentation says."""
    if body.get("messaging_product") != "whatsapp":
        raise _wrong("messaging_product must be whatsapp")
    kind = body.get("type", "text")
    if kind not in _TYPES or not isinstance(body.get(kind), dict):
        raise Refusal(400, 131051, "(#131051) Unsupported message type")
    _allow(body, _TARGET | {kind})
    content = body[kind]
    _allow(content, _TYPES[kind])
    if body.get("recipient_type", "individual") != "individual":
        raise _wrong("recipient_type must be individual")
    if bool(body.get("to")) == bool(body.get("recipient")):
        raise Refusal(400, 131008, "(#131008) Required parameter is missing", "to")
    if len(body.get("biz_opaque_callback_data", "")) > 512:
        raise _wrong("biz_opaque_callback_data is too long")
    if kind == "text":
        _take(content.get("body"), 4096, "text.body")
    if kind in {"image", "document"}:
        if len({"id", "link"} & set(content)) != 1:
            raise _wrong("exactly one of id and link")
        if "caption" in content:
            _take(content["caption"], 1024, "caption")
    if kind == "interactive":
        _check_interactive(content)


def check_parameters(components: list[dict[str, Any]], variables: int) -> list[str]:
    """Refuse parameters that do not fit a template's body, and return them."""
    parameters = [
        one for part in components if part["type"] == "body" for one in part["parameters"]
    ]
    if len(parameters) != variables:
        raise Refusal(
            400,
            132000,
            "(#132000) Number of parameters does not match the expected number of params",
        )
    for one in parameters:
        if one["type"] != "text" or not one["text"]:
            raise Refusal(400, 132012, "(#132012) Parameter format does not match")
        if re.search(r"[\n\t]| {5,}", one["text"]):
            raise _wrong("Param text cannot have new-line/tab characters or more than 4 spaces")
    return [one["text"] for one in parameters]


def _check_interactive(content: dict[str, Any]) -> None:
    _take(content.get("body", {}).get("text"), 1024, "interactive.body.text")
    action = content["action"]
    match content["type"]:
        case "button":
            _allow(action, {"buttons"})
            buttons = action["buttons"]
            if not 1 <= len(buttons) <= 3:
                raise _wrong(
                    "Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: 3"
                )
            for button in buttons:
                _allow(button, {"type", "reply"})
                _allow(button["reply"], {"id", "title"})
                _take(button["reply"]["id"], 256, "button.reply.id")
                _take(button["reply"]["title"], 20, "button.reply.title")
            _differ([one["reply"]["title"] for one in buttons], "button titles")
            _differ([one["reply"]["id"] for one in buttons], "button ids")
        case "list":
            _allow(action, {"button", "sections"})
            _take(action["button"], 20, "action.button")
            rows = [row for section in action["sections"] for row in section["rows"]]
            if not 1 <= len(rows) <= 10 or not 1 <= len(action["sections"]) <= 10:
                raise _wrong("Total row count exceed max allowed count: 10")
            for row in rows:
                _allow(row, {"id", "title", "description"})
                _take(row["id"], 200, "row.id")
                _take(row["title"], 24, "row.title")
                if "description" in row:
                    _take(row["description"], 72, "row.description")
            _differ([row["id"] for row in rows], "row ids")
        case "cta_url":
            _allow(action, {"name", "parameters"})
            _allow(action["parameters"], {"display_text", "url"})
            _take(action["parameters"]["display_text"], 20, "display_text")
            if urlsplit(action["parameters"]["url"]).scheme not in {"http", "https"}:
                raise _wrong("url is not valid")
        case _:
            raise Refusal(400, 131051, "(#131051) Unsupported message type")


def _allow(value: dict[str, Any], names: set[str]) -> None:
    if unknown := set(value) - names:
        raise _wrong(f'Unexpected key "{min(unknown)}"')


def _take(text: object, most: int, name: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise Refusal(400, 131008, "(#131008) Required parameter is missing", name)
    if len(text.encode("utf-16-le")) // 2 > most:
        raise _wrong(f"Param {name} must be at most {most} characters long.")


def _differ(values: list[str], what: str) -> None:
    if len(set(values)) != len(values):
        raise Refusal(400, 131009, "(#131009) Parameter value is not valid", f"duplicated {what}")


def _wrong(details: str) -> Refusal:
    return Refusal(400, 100, "(#100) Invalid parameter", details)
