"""What Slack's Web API refuses: blocks, modals and arguments outside the documented limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MOST_TEXT = 40_000
MOST_BLOCKS = 50
MOST_MODAL_BLOCKS = 100
MOST_BLOCK_CHARACTERS = 13_000

SCOPES: Mapping[str, tuple[str, ...]] = {
    "auth.test": (),
    "apps.connections.open": ("connections:write",),
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.open": ("im:write",),
    "files.completeUploadExternal": ("files:write",),
    "files.getUploadURLExternal": ("files:write",),
    "files.info": ("files:read",),
    "views.open": (),
}
"""The methods, and the scope that each needs."""
ARGUMENTS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(required.split()), frozenset(optional.split()))
    for name, required, optional in (
        ("auth.test", "", ""),
        ("apps.connections.open", "", ""),
        ("chat.delete", "channel ts", "as_user"),
        ("chat.postEphemeral", "channel user", "text blocks thread_ts parse link_names"),
        (
            "chat.postMessage",
            "channel",
            (
                "text blocks thread_ts parse link_names mrkdwn unfurl_links unfurl_media metadata "
                "reply_broadcast username icon_emoji icon_url attachments"
            ),
        ),
        ("chat.update", "channel ts", "text blocks parse link_names metadata"),
        ("conversations.open", "", "users channel return_im prevent_creation"),
        (
            "files.completeUploadExternal",
            "files",
            "channel_id channels initial_comment thread_ts blocks",
        ),
        ("files.getUploadURLExternal", "filename length", "alt_txt snippet_type"),
        ("files.info", "file", ""),
        ("views.open", "view", "trigger_id interactivity_pointer"),
    )
}
FORM_ALONE = frozenset({"files.getUploadURLExternal", "files.info"})
"""Methods that take no JSON."""

_STYLES = {"bold", "italic", "strike", "code"}
_ELEMENTS_OF_INPUT: Mapping[str, frozenset[str]] = {
    "plain_text_input": frozenset({"multiline", "initial_value", "max_length", "min_length"}),
    "number_input": frozenset({"is_decimal_allowed", "initial_value"}),
    "datepicker": frozenset({"initial_date"}),
    "checkboxes": frozenset({"options"}),
    "static_select": frozenset({"options"}),
    "multi_static_select": frozenset({"options"}),
}
_MOST_OPTIONS = {"checkboxes": 10}


class Refusal(Exception):
    """An error of the API.

    Parameters:
        code: of ``error``.
        reasons: of ``response_metadata.messages``.
    """

    def __init__(self, code: str, *reasons: str, **more: Any) -> None:
        super().__init__(code)
        self.body: dict[str, Any] = {"ok": False, "error": code, **more}
        if reasons:
            self.body["response_metadata"] = {"messages": [f"[ERROR] {one}" for one in reasons]}


class _Invalid(Exception):
    """A member that breaks a rule."""


def check_message(arguments: Mapping[str, Any]) -> None:
    """Refuse a message without content, or with too much."""
    text, blocks = arguments.get("text", ""), arguments.get("blocks", [])
    if not (isinstance(text, str) and isinstance(blocks, list)):
        raise Refusal("invalid_arguments")
    if not text and not blocks:
        raise Refusal("no_text")
    if len(text) > MOST_TEXT:
        raise Refusal("msg_too_long")
    try:
        _check(len(blocks) <= MOST_BLOCKS, "no more than 50 items allowed")
        _check_blocks(blocks, _MESSAGE_BLOCKS)
    except _Invalid as error:
        raise Refusal("invalid_blocks", str(error)) from None
    if len(str(blocks)) > MOST_BLOCK_CHARACTERS * 2:
        raise Refusal("msg_blocks_too_long")


def check_view(view: Any) -> None:
    """Refuse a view that is no modal of Slack."""
    try:
        _members(
            view,
            "type title blocks",
            "submit close private_metadata callback_id clear_on_close notify_on_close external_id",
        )
        _check(view["type"] == "modal", "only modals are opened")
        for name in ("title", "submit", "close"):
            if name in view:
                _plain(view[name], 24)
        _check(len(view.get("private_metadata", "")) <= 3000, "private_metadata is too long")
        _check(len(view.get("callback_id", "")) <= 255, "callback_id is too long")
        blocks = view["blocks"]
        _check(0 < len(blocks) <= MOST_MODAL_BLOCKS, "between 1 and 100 blocks")
        _check_blocks(blocks, _MODAL_BLOCKS)
        has_input = any(block["type"] == "input" for block in blocks)
        _check("submit" in view or not has_input, "inputs need a submit")
    except _Invalid as error:
        raise Refusal("invalid_arguments", str(error)) from None


def _check_blocks(
    blocks: Sequence[Any], kinds: Mapping[str, Callable[[Mapping[str, Any]], None]]
) -> None:
    ids = []
    for block in blocks:
        _check(isinstance(block, dict) and block.get("type") in kinds, "unsupported type")
        if "block_id" in block:
            _check(0 < len(block["block_id"]) <= 255, "block_id")
            ids.append(block["block_id"])
        kinds[block["type"]](block)
    _check(len(ids) == len(set(ids)), "block_id is already used")


def _rich_text(block: Mapping[str, Any]) -> None:
    _members(block, "type elements", "block_id")
    _check(bool(block["elements"]), "no elements")
    for element in block["elements"]:
        kind = element.get("type")
        if kind == "rich_text_list":
            _members(element, "type style elements", "indent offset border")
            _check(element["style"] in {"bullet", "ordered"}, "style")
            _check(0 <= element.get("indent", 0) <= 8, "indent")
            _check(bool(element["elements"]), "no items")
            for item in element["elements"]:
                _check(item.get("type") == "rich_text_section", "items are sections")
                _inline(item)
        else:
            kinds = {"rich_text_section", "rich_text_quote", "rich_text_preformatted"}
            _check(kind in kinds, f"unsupported element {kind}")
            _inline(element)


def _inline(element: Mapping[str, Any]) -> None:
    _members(element, "type elements", "border")
    _check(bool(element["elements"]), "no elements")
    for one in element["elements"]:
        kind = one.get("type")
        _check(kind in {"text", "link"}, f"unsupported element {kind}")
        _members(one, "type url" if kind == "link" else "type text", "text style unsafe")
        _check(kind == "link" or len(one["text"]) > 0, "text is empty")
        style = one.get("style", {})
        _check(bool(style or "style" not in one), "style is empty")
        _check(set(style) <= _STYLES, "style")
        if kind == "link":
            _check(one["url"].startswith(("http://", "https://", "mailto:")), "url")


def _actions(block: Mapping[str, Any]) -> None:
    _members(block, "type elements", "block_id")
    elements = block["elements"]
    _check(0 < len(elements) <= 25, "between 1 and 25 elements")
    for element in elements:
        _check(element.get("type") == "button", "unsupported element")
        _members(element, "type text", "action_id value url style confirm accessibility_label")
        _plain(element["text"], 75)
        _check(0 < len(element.get("action_id", "x")) <= 255, "action_id")
        _check(len(element.get("value", "")) <= 2000, "value")
        _check(len(element.get("url", "")) <= 3000, "url")
        _check(element.get("style", "primary") in {"primary", "danger"}, "style")
    ids = [element.get("action_id") for element in elements]
    _check(len(ids) == len(set(ids)), "action_id is already used")


def _section(block: Mapping[str, Any]) -> None:
    _members(block, "type text", "block_id")
    _plain(block["text"], 3000)


def _context(block: Mapping[str, Any]) -> None:
    _members(block, "type elements", "block_id")
    _check(0 < len(block["elements"]) <= 10, "between 1 and 10 elements")
    for element in block["elements"]:
        _plain(element, 3000)


def _input(block: Mapping[str, Any]) -> None:
    _members(block, "type label element", "block_id hint optional dispatch_action")
    _plain(block["label"], 2000)
    if "hint" in block:
        _plain(block["hint"], 2000)
    element = block["element"]
    kind = element.get("type")
    _check(kind in _ELEMENTS_OF_INPUT, f"unsupported element {kind}")
    allowed = {"type", "action_id", "placeholder", "focus_on_load", *_ELEMENTS_OF_INPUT[kind]}
    _check(set(element) <= allowed, f"unexpected member of {kind}")
    _check(kind != "number_input" or "is_decimal_allowed" in element, "is_decimal_allowed")
    if "options" in _ELEMENTS_OF_INPUT[kind]:
        _options(element["options"], _MOST_OPTIONS.get(kind, 100))


def _options(options: Sequence[Mapping[str, Any]], most: int) -> None:
    _check(0 < len(options) <= most, "options")
    for option in options:
        _members(option, "text value", "description")
        _plain(option["text"], 75)
        _check(0 < len(option["value"]) <= 150, "value of an option")


def _plain(text: Any, most: int) -> None:
    _members(text, "type text", "emoji")
    _check(text["type"] == "plain_text", "plain_text expected")
    _check(0 < len(text["text"]) <= most, f"text must have 1 to {most} characters")


def _members(value: Any, required: str, optional: str) -> None:
    _check(isinstance(value, dict), "an object expected")
    wanted = set(required.split())
    _check(wanted <= set(value), f"missing {wanted - set(value)}")
    more = set(value) - wanted - set(optional.split())
    _check(not more, f"unexpected {more}")


def _check(is_valid: bool, rule: str) -> None:
    if not is_valid:
        raise _Invalid(rule)


_MESSAGE_BLOCKS = {
    "actions": _actions,
    "context": _context,
    "rich_text": _rich_text,
    "section": _section,
}
_MODAL_BLOCKS = {"input": _input, "section": _section}
