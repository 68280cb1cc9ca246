"""Filters a model's text before it is shown. Pure; also for streams.

Links and images that could exfiltrate data are removed (:mod:`aitp_desk.agent.generative.links`),
and the model's rules stay confidential: if its text repeats a run of them, in any spacing,
numbering or case, reversed, or in one of the usual encodings, the text is held back and reported as
leaked. Text that may begin such a run is not shown before its continuation is known. A visitor who
has the rules translated or paraphrased gets them all the same, which is why they contain nothing
secret.

No setting disables this: an agent is constructed with it.
"""

from __future__ import annotations

import base64
import codecs
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from aitp_desk.agent.generative.links import AllowedAddresses, LinkFilter

RUN = 32
"""This many consecutive letters of the rules count as a leak: some eight words."""
BEGINS = 12
"""From this many letters on a run is held back until its continuation is known."""
CODE_RUN, CODE_BEGINS = 40, 20
"""The same for the letters and digits of an encoding of the rules."""

HELD = 320
"""The most characters held back: letters may be far apart."""

_NO_LETTER = re.compile(r"[\W\d_]+")
_NO_CODE = re.compile(r"[\W_]+")


Passed = tuple[str, ...]
"""The end of the text so far, in each form of a secret."""


class PromptLeak(Exception):
    """The model repeats its confidential instructions."""


class OutputFilter(Protocol):
    """Filters a model's text in pieces."""

    def learn(self, texts: Iterable[str]) -> None:
        """Register texts that the model was given."""

    def feed(self, text: str) -> str:
        """Return the text that may be shown now.

        Raises:
            PromptLeak: the text must not be shown, and shown parts must be withdrawn.
        """

    def close(self) -> str:
        """Return the rest at the end of the text. Raises as :meth:`feed`."""

    def check(self, text: str) -> None:
        """Check text that leaves another way, such as a call's arguments. Raises as above."""


class OutputGuard:
    """The output filter that every answer passes.

    Parameters:
        site_url: the site's address.
        rules: what the model must keep confidential.
    """

    def __init__(self, site_url: str, rules: str) -> None:
        self._secret = _secret(rules)
        self._addresses = AllowedAddresses(site_url)
        self._links = LinkFilter(self._addresses)
        self._passed = self._secret.nothing
        self._held = ""

    def learn(self, texts: Iterable[str]) -> None:
        """Allow the addresses in texts that the model was given."""
        self._addresses.learn(texts)

    def feed(self, text: str) -> str:
        """Return the text that may be shown now."""
        self._held += text
        safe = len(self._held) - self._secret.watch(self._held, self._passed)
        said, self._held = self._held[:safe], self._held[safe:]
        self._passed = self._secret.add(said, self._passed)
        return self._links.feed(said)

    def close(self) -> str:
        """Return the rest at the end of the text."""
        said, self._held = self._held, ""
        return self._links.feed(said) + self._links.close()

    def check(self, text: str) -> None:
        """Check text that leaves another way."""
        self._secret.check(text)


class SecretText:
    """A text that must not be repeated, literally or encoded."""

    def __init__(self, text: str) -> None:
        letters = _NO_LETTER.sub("", text.lower())
        whole = text.encode()
        codes = [whole.hex()]
        # text before it shifts its letters by up to two positions in the encoding
        codes += [base64.b64encode(b"\0" * moved + whole).decode()[4:-4] for moved in range(3)]
        self._forms = (
            _Form(_NO_LETTER, (letters, letters[::-1], rot13(letters)), RUN, BEGINS),
            _Form(_NO_CODE, codes, CODE_RUN, CODE_BEGINS),
        )

    @property
    def nothing(self) -> Passed:
        """Return the state before a text begins."""
        return ("",) * len(self._forms)

    def check(self, text: str) -> None:
        """Raise PromptLeak if a text repeats a run of this one."""
        self.watch(text, self.nothing)

    def watch(self, text: str, passed: Passed) -> int:
        """Return how many characters at a text's end may begin a run.

        Parameters:
            passed: the text before; see :meth:`add`.

        Raises:
            PromptLeak: the text ends a run.
        """
        held = [form.watch(text, said) for form, said in zip(self._forms, passed, strict=True)]
        return min(len(text), HELD, max(held))

    def add(self, text: str, passed: Passed) -> Passed:
        """Return the end of the text so far, including this: what a run may reach back to."""
        return tuple(
            form.end_of(said + form.fold(text))
            for form, said in zip(self._forms, passed, strict=True)
        )


_secret = lru_cache(maxsize=8)(SecretText)


def repeats_rules(text: str, rules: str) -> bool:
    """Return whether a text repeats a part of the model's rules."""
    try:
        _secret(rules).check(text)
    except PromptLeak:
        return True
    return False


class _Form:
    """One encoding of a secret.

    Parameters:
        between: what is removed from a text before it is compared.
        texts: the secret, in this form.
        run: this many characters in a row reveal it.
        begins: this many may be the beginning of a run.
    """

    def __init__(
        self, between: re.Pattern[str], texts: Iterable[str], run: int, begins: int
    ) -> None:
        self._between = between
        self._texts = tuple(map(self.fold, texts))
        self._run = run
        self._begins = begins
        self._runs = frozenset(
            text[at : at + run] for text in self._texts for at in range(len(text) - run + 1)
        )

    def fold(self, text: str) -> str:
        """Return the significant characters of a text, in any style: 𝐁𝐨𝐥𝐝 and Ｗｉｄｅ too."""
        return self._between.sub("", unicodedata.normalize("NFKD", text).lower())

    def end_of(self, said: str) -> str:
        """Return as much of a folded text's end as a run may begin with."""
        return said[-self._run :]

    def watch(self, text: str, passed: str) -> int:
        """Return how far from its end a text may begin a run. Raises PromptLeak for a run."""
        said = passed + self.fold(text)
        if any(said[at : at + self._run] in self._runs for at in range(len(said) - self._run + 1)):
            raise PromptLeak
        for length in range(min(self._run, len(said)), self._begins - 1, -1):
            if any(said[-length:] in told for told in self._texts):
                return self._reach(text, length)
        return 0

    def _reach(self, text: str, length: int) -> int:
        """Return how far from its end a text holds this many significant characters."""
        for start in range(len(text) - 1, -1, -1):
            length -= len(self.fold(text[start]))
            if length <= 0:
                return len(text) - start
        return len(text)


def rot13(letters: str) -> str:
    """Rotate letters by half the alphabet."""
    return codecs.encode(letters, "rot13")
