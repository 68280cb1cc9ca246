"""Says how a visitor without a credential gets the one that an action needs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import msgspec

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Answer

_TEXTS: Mapping[str, Mapping[str, str]] = msgspec.json.decode(
    files(__package__).joinpath("access_notices.json").read_bytes(),
    type=dict[str, dict[str, str]],
)
_ENGLISH = "en"
NOTICE_LANGUAGES = tuple(_TEXTS["person"])


class AccessNotice(msgspec.Struct, frozen=True):
    """How visitors of a site get a credential.

    Parameters:
        site: its name.
        has_sign_in: whether the site identifies the people who are signed in there.
        url: the page where people sign in, or that explains how to get a key; may be empty.
        contact: how people reach the site; may be empty.
    """

    site: str
    has_sign_in: bool
    url: str = ""
    contact: str = ""

    def write(self, action: str, language: str, *, to_person: bool = False) -> Answer:
        """Return the answer to words that ask for an action.

        Parameters:
            action: its name.
            language: tag of the language that the site's pages have.
            to_person: whether no program reads it: then it says nothing of keys.
        """
        spoken = language.partition("-")[0].lower()
        spoken = spoken if spoken in NOTICE_LANGUAGES else _ENGLISH
        told, where, found = _TEXTS["person"][spoken], self.url, True
        if self.has_sign_in:
            told, found = _TEXTS["sign_in"][spoken], False  # a way to the answer is no answer
        elif to_person:
            where, found = self.contact, False  # then a person is offered, if there is one
        else:
            told += _TEXTS["program"][spoken]
        told = told.format(site=self.site, scope=f"actions:{action}")
        text = f"{told}\n\n{where}" if where else told
        tokens = -(-len(text) // CHARACTERS_PER_TOKEN)
        return Answer(text, tokens_used=tokens, found=found, locale=spoken)
