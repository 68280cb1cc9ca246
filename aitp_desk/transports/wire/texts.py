"""What platforms show besides the desk's messages."""

from __future__ import annotations

from aitp_desk.transports.wire.catalogue import TextCatalogue

say = TextCatalogue(__package__).say
