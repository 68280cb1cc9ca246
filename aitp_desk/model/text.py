"""Cleans text for display and quotation: no invisible characters, no images in Markdown.

Source: Unicode 16, chapter 23 and UTS #51 (emoji); CommonMark 0.31, section 6.4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

_JOINED_SCRIPTS = (
    "\u0600-\u06ff\u0700-\u074f\u0750-\u07ff\u0800-\u08ff\u0900-\u0dff\u0e00-\u0eff\u0f00-\u0fff"
    "\u1000-\u109f\u1780-\u17ff\u1800-\u18af\u1900-\u1aff\u1b00-\u1c4f\ua800-\uaaff\ufb50-\ufdcf"
    "\ufdf0-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00010d00-\U00010fff\U00011000-\U00011fff"
    "\U0001e900-\U0001e95f"
)
"""Scripts whose letters change their form next to each other: Arabic, Indic, Mongolian, and more.
"""
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u1a20-\u1aaf\uaa60-\uaa7f"
"""Scripts without spaces between words: a zero-width one marks where a line may end."""
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010800-\U00010fff"
_SKIN = "\U0001f3fb-\U0001f3ff"
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
_IDEOGRAPHS = "\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_FLAGS = ("gbeng", "gbsct", "gbwls")
"""The flags that are written with tag characters (UTS #51, RGI emoji tag sequences)."""


def _tags(region: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"


_SUSPECT = (
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are never drawn, change the reading order, or control a terminal."""
_SUSPECTED = re.compile(_SUSPECT)
_SPACE = re.compile(r"[^\S\u3000]+")
_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")

_INNER = r"(?:[^\[\]]|\[[^\[\]]*+\])*+"
_TARGET = r"(?:\((?:[^()]|\([^()]*+\))*+\)|\[[^\[\]]*+\])"
_IMAGE = re.compile(rf"!\[({_INNER})\]{_TARGET}?")
_LINK = re.compile(rf"\[({_INNER})\]\((?:[^()]|\([^()]*+\))*+\)")
_LOADED = r"(?:img|picture|source|video|audio|iframe|object|embed|svg|image|link|meta|script|style)"
_ELEMENT = re.compile(rf"<{_LOADED}\s[^>]*>?", re.IGNORECASE)
_IMAGE_SIGN = re.compile(r"(?<![\w#])!(?=\[)|!(?=\[[^\n]{0,1000}\]\s?[(\[])")
_ELEMENT_SIGN = re.compile(rf"(?<!\\)<(?={_LOADED}\s)", re.IGNORECASE)
_MOST_ROUNDS = 8


@cache
def _invisible() -> re.Pattern[str]:
    """Return the pattern, which takes long to compile and which few texts need."""
    return re.compile(
        rf"(?={_SUSPECT})(?:"  # first, for most characters are none of these
        # what belongs to the letters next to it
        rf"(?P<kept>(?<=\U0001f3f4)(?:{'|'.join(map(_tags, _FLAGS))})"
        rf"|(?<=[{_JOINED_SCRIPTS}])\u200d"
        rf"|(?<=[{_JOINED_SCRIPTS}])\u200c(?=[{_JOINED_SCRIPTS}])"
        rf"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}][\ufe0f{_SKIN}]))\u200d(?=[{_EMOJI}])"
        rf"|(?<=[{_EMOJI}{_SKIN}0-9#*])[\ufe0e\ufe0f]"
        rf"|(?<=[{_IDEOGRAPHS}\u2200-\u22ff\u3000-\u303f\uff00-\uffef])[\ufe00-\ufe02]"
        rf"|(?<=[{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]"
        rf"|(?<=[{_UNSPACED}])\u200b(?=[{_UNSPACED}])"
        rf"|(?<=[{_RIGHT_TO_LEFT}])[\u200e\u200f\u061c]|[\u200e\u200f\u061c](?=[{_RIGHT_TO_LEFT}])"
        r"|(?<=[\u1820-\u18aa])[\u180b-\u180f]"
        r"|(?<=[\u1100-\u115e])\u1160|\u115f(?=[\u1161-\u11a7])"
        r")"
        r"|.)",
        re.DOTALL,
    )


def drop_invisible(text: str) -> str:
    """Return a text without invisible characters and without those that change its reading order.

    Joiners and selectors stay where the letters or emoji next to them need them.
    """
    if _LINE_BREAKS.search(text):
        text = _LINE_BREAKS.sub("\n", text)
    if _SUSPECTED.search(text) is None:
        return text
    for _ in range(_MOST_ROUNDS):  # a removal may bring letters together
        shorter = _invisible().sub(lambda found: found["kept"] or "", text)
        if shorter == text:
            break
        text = shorter
    return text


def one_line(text: str) -> str:
    """Return a text on one line, with single spaces.

    The wide space of Japanese stays.
    """
    return " ".join(text.split()) if "\u3000" not in text else _SPACE.sub(" ", text).strip()


def clean_name(text: str) -> str:
    """Return a title or name on one line, without images and links.

    Their texts stay.
    """
    text = drop_invisible(text)
    for pattern, words in ((_ELEMENT, ""), (_IMAGE, r"\1"), (_LINK, r"\1")):
        for _ in range(_MOST_ROUNDS):
            plain = pattern.sub(words, text)
            if plain == text:
                break
            text = plain
    return one_line(text.replace("![", "["))


def clean_quote(text: str) -> str:
    """Return running text that loads nothing when a client shows it as Markdown."""
    text = drop_invisible(text)
    if "![" in text:
        text = _IMAGE_SIGN.sub(r"!\\", text)
    return _ELEMENT_SIGN.sub(r"\\<", text) if "<" in text else text


def clean_message(text: str) -> str:
    """Return a message in words: what clients would read as a structured one as a block of code.

    Pages, models and other servers bring texts; only the desk itself asks by structured messages.
    """
    if not text.lstrip().startswith("{"):
        return text
    try:
        is_structured = "$schema" in json.loads(text)  # as lenient as browsers
    except RecursionError:
        is_structured = True
    except ValueError:
        is_structured = False
    return f"```json\n{text.strip()}\n```" if is_structured else text


def clean_data(value: Any) -> Any:
    """Return a JSON value whose texts and names have no invisible characters."""
    if isinstance(value, str):
        return drop_invisible(value)
    if isinstance(value, Mapping):
        return {drop_invisible(str(name)): clean_data(item) for name, item in value.items()}
    if isinstance(value, list):
        return [clean_data(item) for item in value]
    return value


def write_count(number: float, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 second" and "2.5 seconds".

    Parameters:
        plural: where it is not the noun with an s.
    """
    said = str(number) if isinstance(number, int) else f"{number:g}"
    return f"{said} {noun if said == '1' else plural or f'{noun}s'}"
