"""What clients have said to a desk and what it has acknowledged, kept outside of it."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec

QUESTIONS = (
    "What is your return policy?",
    "Do you ship to Canada?",
    "How do I wash a down jacket?",
    "When is the store in Bend open?",
    "Which stove do you recommend for winter?",
)
MARK = "post "
"""How the text of every post begins; other messages are not the clients'."""
NEW_THREAD = 0.05
"""The share of posts that open a thread."""
WAITS = 0.1
"""The share of posts that wait for the reply."""


class Post(msgspec.Struct, frozen=True):
    """Something to be said once, however often it has to be sent.

    Parameters:
        key: its idempotency key.
        text: distinct among all posts.
        thread_id: where it goes; None opens a thread.
        waits: whether the sender waits for the reply.
    """

    key: str
    text: str
    thread_id: str | None
    waits: bool


class Ledger:
    """The clients' common memory.

    Attributes:
        said: texts by the id of the message that was acknowledged for them, with the thread.
        replies: ids of replies that were handed over, with the thread.
        unsettled: posts whose answer never came, to be sent again with the same key.
        refused: how many requests were answered, but not with 200.
        threads: ids of threads that were opened.
    """

    def __init__(self, chance: random.Random) -> None:
        self.said: dict[str, tuple[str, str]] = {}
        self.replies: dict[str, str] = {}
        self.unsettled: deque[Post] = deque()
        self.refused = 0
        self._chance = chance
        self._numbers = itertools.count()
        self.threads: list[str] = []

    def next(self) -> Post:
        """What to send next: first what was cut off."""
        if self.unsettled:
            return self.unsettled.popleft()
        number = next(self._numbers)
        opens = not self.threads or self._chance.random() < NEW_THREAD
        return Post(
            key=f"kill-under-load-{number:012}",
            text=f"{MARK}{number}: {self._chance.choice(QUESTIONS)}",
            thread_id=None if opens else self._chance.choice(self.threads[-8:]),
            waits=self._chance.random() < WAITS,
        )

    def acknowledge(self, post: Post, answer: Mapping[str, Any]) -> None:
        """Note what the desk answered to a post: a thread or a message, and replies if any."""
        message = answer
        if post.thread_id is None:
            if answer["id"] not in self.threads:
                self.threads.append(answer["id"])
            message = answer["messages"][0]
        self.said[message["id"]] = (message["thread_id"], post.text)
        for reply in answer.get("replies", ()):
            self.replies[reply["id"]] = reply["thread_id"]
