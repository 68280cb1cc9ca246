"""Validates operators' names and the length of their messages."""

from __future__ import annotations

import re

from aitp_desk.model.access.operator import OPERATOR_NAME
from aitp_desk.model.conversation.ticket import LONGEST_ANSWER
from aitp_desk.model.errors import InvalidRequest

_NAME = re.compile(OPERATOR_NAME)


def check_name(operator: str) -> None:
    """Refuse a name that cannot be part of an actor's id.

    Raises:
        InvalidRequest: the name is invalid.
    """
    if _NAME.fullmatch(operator) is None:
        raise InvalidRequest(
            f"{operator!r} is not a valid operator name. Use at most 63 lowercase letters,"
            " digits and . _ -, beginning with a letter or digit.",
            param="operator",
        )


def check_words(words: str) -> None:
    """Refuse an empty or too long text.

    Raises:
        InvalidRequest: the text is empty or too long.
    """
    if not words.strip():
        raise InvalidRequest("An answer must not be empty.", param="words")
    check_length(words)


def check_length(words: str) -> None:
    """Refuse a too long text.

    Raises:
        InvalidRequest: the text is too long.
    """
    if len(words) > LONGEST_ANSWER:
        raise InvalidRequest(
            f"The text may have at most {LONGEST_ANSWER} characters.", param="words"
        )
