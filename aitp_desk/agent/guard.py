"""What a model's words must pass before anybody sees them. Pure; for streams too.

Links and images that could carry something out are taken out (:mod:`aitp_desk.agent.links`), and
the rules that the model was given stay here: when its words repeat a run of them, however they are
spaced, written large or small, or turned round, the text is held back and reported as leaked. What
shows a run beginning is not shown before it is known how it goes on.

There is no setting that takes this out: an agent is made with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from aitp_desk.agent.links import Addresses, LinkFilter

RUN = 40
"""So many letters and digits in a row, as they stand in the rules, give the rules away."""
BEGINS = 16
"""From so many on a run is held back until it is known how it goes on."""

NEAR = RUN * 8
"""How far a run may be spaced out, in characters."""


class Leaked(Exception):
    """The model repeats what it was told to keep to itself."""


class Output(Protocol):
    """Takes a model's words in pieces and gives out what may be shown."""

    def learn(self, texts: Iterable[str]) -> None:
        """Take note of what the model was given to read."""

    def feed(self, text: str) -> str:
        """What may be shown now.

        Raises:
            Leaked: the text must not be shown, nor what was shown of it stay.
        """

    def close(self) -> str:
        """What is left, the text being at its end. Raises as :meth:`feed`."""

    def check(self, text: str) -> None:
        """Look at words that leave on another way, such as a call's arguments. Raises as above."""


class Guard:
    """The output filter that every answer passes.

    Parameters:
        site_url: the site's own address.
        rules: what the model is to keep to itself.
    """

    def __init__(self, site_url: str, rules: str) -> None:
        self._secret = Secret(rules)
        self._addresses = Addresses(site_url)
        self._links = LinkFilter(self._addresses)
        self._passed = ""
        self._held = ""

    def learn(self, texts: Iterable[str]) -> None:
        """Allow the addresses that stand in what the model was given to read."""
        self._addresses.learn(texts)

    def feed(self, text: str) -> str:
        """What may be shown now."""
        self._held += text
        near = self._passed + self._held
        self._secret.check(near)
        safe = max(0, len(self._held) - self._secret.beginning(near))
        said, self._held = self._held[:safe], self._held[safe:]
        # a run may reach across what has passed already
        self._passed = (self._passed + said)[-NEAR:]
        return self._links.feed(said)

    def close(self) -> str:
        """What is left, the text being at its end."""
        said, self._held = self._held, ""
        return self._links.feed(said) + self._links.close()

    def check(self, text: str) -> None:
        """Look at words that leave on another way."""
        self._secret.check(text)


class Secret:
    """A text that must not be repeated."""

    def __init__(self, text: str) -> None:
        letters, _ = _letters(text)
        self._texts = (letters, letters[::-1])
        self._runs = frozenset(
            run[at : at + RUN] for run in self._texts for at in range(len(run) - RUN + 1)
        )

    def check(self, text: str) -> None:
        """Raise Leaked where a text repeats a run of this one."""
        letters, _ = _letters(text)
        if any(letters[at : at + RUN] in self._runs for at in range(len(letters) - RUN + 1)):
            raise Leaked

    def beginning(self, text: str) -> int:
        """How many characters at a text's end may be the beginning of a run."""
        letters, places = _letters(text[-NEAR:])
        cut = max(0, len(text) - NEAR)
        for length in range(min(RUN, len(letters)), BEGINS - 1, -1):
            if any(letters[-length:] in told for told in self._texts):
                return len(text) - cut - places[len(letters) - length]
        return 0


def _letters(text: str) -> tuple[str, list[int]]:
    """A text's letters and digits in lower case, and where each stands."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isalnum():
            for lower in character.lower():
                folded.append(lower)
                places.append(place)
    return "".join(folded), places
