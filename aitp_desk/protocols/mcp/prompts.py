"""Serves prompts: questions that the site suggests to visitors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.base.json_rpc import (
    INVALID_PARAMS,
)
from aitp_desk.protocols.mcp.caller import Caller, RpcError
from aitp_desk.protocols.mcp.tools import Item

SuggestedQuestions = Callable[[Desk], Sequence[str]]
"""Returns the questions that the site suggests."""
_LONGEST_NAME = 48
_NO_NAME = re.compile(r"[^a-z0-9]+")


class PromptMethods:
    """Serves the methods about prompts.

    Parameters:
        suggested: returns the questions.
    """

    def __init__(self, suggested: SuggestedQuestions) -> None:
        self._suggested = suggested

    async def get_list(self, desk: Desk, _caller: Caller, _params: Mapping[str, Any]) -> Item:
        """``prompts/list``."""
        return {
            "prompts": [
                {
                    "name": name,
                    "title": question,
                    "description": f"Ask {desk.site.name} this question.",
                }
                for name, question in self._named(desk).items()
            ]
        }

    async def get(self, desk: Desk, _caller: Caller, params: Mapping[str, Any]) -> Item:
        """``prompts/get``.

        Raises:
            RpcError: no prompt has this name.
        """
        name = params.get("name")
        question = self._named(desk).get(name) if isinstance(name, str) else None
        if question is None:
            raise RpcError(
                INVALID_PARAMS, "There is no such prompt. prompts/list returns all prompts."
            )
        content = {"type": "text", "text": question}
        return {"description": question, "messages": [{"role": "user", "content": content}]}

    def _named(self, desk: Desk) -> dict[str, str]:
        """Return the questions by names that are derived from their text."""
        named: dict[str, str] = {}
        for number, question in enumerate(self._suggested(desk), 1):
            name = _NO_NAME.sub("_", question.lower()).strip("_")[:_LONGEST_NAME].rstrip("_")
            if not name or name in named:
                name = f"{name}_{number}".lstrip("_")
            named[name] = question
        return named
