"""What an operator is called, and how much one may say."""

from __future__ import annotations

import re

from aitp_desk.model.access.operator import OPERATOR_NAME
from aitp_desk.model.conversation.ticket import LONGEST_ANSWER
from aitp_desk.model.errors import InvalidRequest

_NAME = re.compile(OPERATOR_NAME)


def check_name(operator: str) -> None:
    """Hold an operator's name to what stands in the id of an actor.

    Raises:
        InvalidRequest: it is no such name.
    """
    if _NAME.fullmatch(operator) is None:
        raise InvalidRequest(
            f"{operator!r} is no name for an operator; it takes small letters, digits and . _ -, a"
            " letter or digit first, at most 63.",
            param="operator",
        )


def check_words(words: str) -> None:
    """Refuse to say nothing, or too much.

    Raises:
        InvalidRequest: there are no words, or too many.
    """
    if not words.strip():
        raise InvalidRequest("An answer takes words.", param="words")
    check_length(words)


def check_length(words: str) -> None:
    """Refuse to say too much.

    Raises:
        InvalidRequest: there are too many words.
    """
    if len(words) > LONGEST_ANSWER:
        raise InvalidRequest(
            f"What is said takes at most {LONGEST_ANSWER} characters.", param="words"
        )
