"""Settings of notifications of new tickets."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class Notify(msgspec.Struct, frozen=True, kw_only=True):
    """Telling the site's people that a ticket waits for them."""

    webhook: Annotated[
        str,
        Meta(
            extra={"unit": "a URL"},
            description="Where every new ticket is sent to, as JSON, signed by the key that the"
            " desk publishes.",
        ),
    ] = ""
    command: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "a program and its arguments"},
            description=(
                "A command that runs for each new ticket, without a shell, with the ticket as"
                " JSON on standard input. Its environment contains only PATH, HOME and LANG."
            ),
        ),
    ] = ()
