"""What the desk says to a person about the conversation itself."""

from __future__ import annotations

from aitp_desk.transports.wire.catalogue import TextCatalogue

say = TextCatalogue(__package__).say
