"""Links to the pages of forms.

A link holds no form: it names what the desk has stored, with a signature that only the desk makes.
"""

from __future__ import annotations

import base64
import hmac

PATH = "/transports/form"
_SIGNATURE = 18
_LONGEST = 200


class FormLinks:
    """Makes links to forms, and reads them.

    Parameters:
        secret: signs the links.
        url: the desk's public address, without a final slash.
    """

    def __init__(self, secret: bytes, url: str) -> None:
        self._secret = secret
        self._url = url

    def link_to(self, token: str) -> str:
        """Return the link to the page of a form, by its token."""
        return f"{self._url}{PATH}?link={token}.{self._sign(token)}"

    def read(self, link: str) -> str | None:
        """Return the token of a link's query; None if the desk has not signed it."""
        token, _, signature = link[:_LONGEST].partition(".")
        is_signed = hmac.compare_digest(signature.encode(), self._sign(token).encode())
        return token if is_signed else None

    def _sign(self, token: str) -> str:
        signature = hmac.digest(self._secret, token.encode(), "sha256")[:_SIGNATURE]
        return base64.urlsafe_b64encode(signature).decode()
