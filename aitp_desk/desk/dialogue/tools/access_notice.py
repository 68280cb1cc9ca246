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
NOTICE_LANGUAGES = tuple(_TEXTS["key"])


class AccessNotice(msgspec.Struct, frozen=True):
    """How visitors of a site get a credential.

    Parameters:
        site: its name.
        has_sign_in: whether the site identifies the people who are signed in there.
        url: the page where people sign in, or that explains how to get a key; may be empty.
    """

    site: str
    has_sign_in: bool
    url: str = ""

    def write(self, action: str, language: str) -> Answer:
        """Return the answer to words that ask for an action.

        Parameters:
            action: its name.
            language: tag of the language that the site's pages have.
        """
        texts = _TEXTS["sign_in" if self.has_sign_in else "key"]
        spoken = language.partition("-")[0].lower()
        spoken = spoken if spoken in texts else _ENGLISH
        told = texts[spoken].format(site=self.site, scope=f"actions:{action}")
        text = f"{told}\n\n{self.url}" if self.url else told
        return Answer(text, tokens_used=-(-len(text) // CHARACTERS_PER_TOKEN), locale=spoken)
