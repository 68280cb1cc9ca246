"""What one task carries from site to site: only what was kept for that, shown before it is sent.

Nothing is collected by itself. A program keeps single facts, and each site is sent only those that
the person has seen and allowed for it (AHP whitepaper, section 5.4).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from yarl import URL

from aitp_desk.model.text import drop_invisible, one_line

MAX_FACT = 200
"""The most characters of one fact."""
MAX_FACTS = 8
"""The most facts that one site is sent."""


class Fact(msgspec.Struct, frozen=True):
    """Something that other sites may learn.

    Parameters:
        origin: the site that it is from; empty if it is from the person.
    """

    text: str
    origin: str = ""


class Disclosure(msgspec.Struct, frozen=True):
    """What a site would learn, exactly as it would be sent.

    Parameters:
        to: the site's origin.
    """

    to: str
    facts: tuple[Fact, ...]

    @property
    def text(self) -> str:
        """The text that goes with the next question."""
        return "\n".join(("For context:", *(f"- {fact.text}" for fact in self.facts)))


Show = Callable[[Disclosure], Awaitable[bool]]


class SharedContext:
    """The facts of one task, for several visits.

    Parameters:
        show: shows a person what a site would learn; False: it is not sent, nor shown again.
    """

    def __init__(self, show: Show) -> None:
        self._show = show
        self._facts: list[Fact] = []
        self._shown: set[tuple[str, Fact]] = set()

    def keep(self, text: str, *, site: str = "") -> None:
        """Keep a fact for other sites.

        Parameters:
            text: as it will be sent, one line.
            site: the address of the site that it is from, which is not sent it.

        Raises:
            ValueError: it is empty or longer than 200 characters.
        """
        line = one_line(drop_invisible(text))
        if not 0 < len(line) <= MAX_FACT:
            raise ValueError(f"A fact has 1 to {MAX_FACT} characters.")
        fact = Fact(line, str(URL(site).origin()) if site else "")
        if fact not in self._facts:
            self._facts.append(fact)

    async def disclose(self, to: str) -> str:
        """Return the text to send to a site with the next question; empty for nothing.

        Parameters:
            to: the site's origin.
        """
        facts = [
            fact for fact in self._facts if fact.origin != to and (to, fact) not in self._shown
        ][-MAX_FACTS:]
        if not facts:
            return ""
        disclosure = Disclosure(to, tuple(facts))
        self._shown.update((to, fact) for fact in facts)
        return disclosure.text if await self._show(disclosure) else ""
