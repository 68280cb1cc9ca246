"""What a model's words must pass before anybody sees them. Pure; for streams too.

Links and images that could carry something out are taken out
(:mod:`aitp_desk.agent.claude.links`), and
the rules that the model was given stay here: when its words repeat a run of them, however they are
spaced, numbered, written large or small, turned round, or put into one of the usual codes, the text
is held back and reported as leaked. What shows a run beginning is not shown before it is known how
it goes on. Who has the rules translated or retold gets them all the same, which is why nothing
stands in them that anybody may not know.

There is no setting that takes this out: an agent is made with it.
"""

from __future__ import annotations

import base64
import codecs
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from aitp_desk.agent.claude.links import AllowedAddresses, LinkFilter

RUN = 32
"""So many letters in a row, as they stand in the rules, give the rules away: some eight words."""
BEGINS = 12
"""From so many on a run is held back until it is known how it goes on."""
CODE_RUN, CODE_BEGINS = 40, 20
"""The same for the letters and digits of a code that stands for the rules."""

HELD = 320
"""So much is held back at most, in characters: letters may stand far apart."""

_NO_LETTER = re.compile(r"[\W\d_]+")
_NO_CODE = re.compile(r"[\W_]+")


Passed = tuple[str, ...]
"""The end of what has passed, in each form of a secret."""


class PromptLeak(Exception):
    """The model repeats what it was told to keep to itself."""


class OutputFilter(Protocol):
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


class OutputGuard:
    """The output filter that every answer passes.

    Parameters:
        site_url: the site's own address.
        rules: what the model is to keep to itself.
    """

    def __init__(self, site_url: str, rules: str) -> None:
        self._secret = _secret(rules)
        self._addresses = AllowedAddresses(site_url)
        self._links = LinkFilter(self._addresses)
        self._passed = self._secret.nothing
        self._held = ""

    def learn(self, texts: Iterable[str]) -> None:
        """Allow the addresses that stand in what the model was given to read."""
        self._addresses.learn(texts)

    def feed(self, text: str) -> str:
        """What may be shown now."""
        self._held += text
        safe = len(self._held) - self._secret.watch(self._held, self._passed)
        said, self._held = self._held[:safe], self._held[safe:]
        self._passed = self._secret.add(said, self._passed)
        return self._links.feed(said)

    def close(self) -> str:
        """What is left, the text being at its end."""
        said, self._held = self._held, ""
        return self._links.feed(said) + self._links.close()

    def check(self, text: str) -> None:
        """Look at words that leave on another way."""
        self._secret.check(text)


class SecretText:
    """A text that must not be repeated, as it stands or in a code."""

    def __init__(self, text: str) -> None:
        letters = _NO_LETTER.sub("", text.lower())
        whole = text.encode()
        codes = [whole.hex()]
        # what stands before a text moves its letters by up to two places in the code
        codes += [base64.b64encode(b"\0" * moved + whole).decode()[4:-4] for moved in range(3)]
        self._forms = (
            _Form(_NO_LETTER, (letters, letters[::-1], rot13(letters)), RUN, BEGINS),
            _Form(_NO_CODE, codes, CODE_RUN, CODE_BEGINS),
        )

    @property
    def nothing(self) -> Passed:
        """What has passed before a text begins."""
        return ("",) * len(self._forms)

    def check(self, text: str) -> None:
        """Raise Leaked where a text repeats a run of this one."""
        self.watch(text, self.nothing)

    def watch(self, text: str, passed: Passed) -> int:
        """How many characters at a text's end may be the beginning of a run.

        Parameters:
            passed: what stands before the text; see :meth:`add`.

        Raises:
            Leaked: the text ends a run.
        """
        held = [form.watch(text, said) for form, said in zip(self._forms, passed, strict=True)]
        return min(len(text), HELD, max(held))

    def add(self, text: str, passed: Passed) -> Passed:
        """The end of what has passed, now that this has too: what a run may reach back to."""
        return tuple(
            form.end_of(said + form.fold(text))
            for form, said in zip(self._forms, passed, strict=True)
        )


_secret = lru_cache(maxsize=8)(SecretText)


def repeats_rules(text: str, rules: str) -> bool:
    """Whether a whole text repeats a run of the rules that it was written by."""
    try:
        _secret(rules).check(text)
    except PromptLeak:
        return True
    return False


class _Form:
    """One way to tell a secret.

    Parameters:
        between: what is left out of a text before it is compared.
        texts: the secret, in this form.
        run: so many characters in a row tell it.
        begins: so many may be the beginning of a run.
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
        """The characters of a text that count, however they are drawn: 𝐁𝐨𝐥𝐝 and Ｗｉｄｅ too."""
        return self._between.sub("", unicodedata.normalize("NFKD", text).lower())

    def end_of(self, said: str) -> str:
        """As much of a folded text's end as a run may begin with."""
        return said[-self._run :]

    def watch(self, text: str, passed: str) -> int:
        """How far from its end a text may be the beginning of a run. Raises Leaked for a run."""
        said = passed + self.fold(text)
        if any(said[at : at + self._run] in self._runs for at in range(len(said) - self._run + 1)):
            raise PromptLeak
        for length in range(min(self._run, len(said)), self._begins - 1, -1):
            if any(said[-length:] in told for told in self._texts):
                return self._reach(text, length)
        return 0

    def _reach(self, text: str, length: int) -> int:
        """How far from its end a text holds so many characters that count."""
        for start in range(len(text) - 1, -1, -1):
            length -= len(self.fold(text[start]))
            if length <= 0:
                return len(text) - start
        return len(text)


def rot13(letters: str) -> str:
    """Letters moved by half the alphabet."""
    return codecs.encode(letters, "rot13")
