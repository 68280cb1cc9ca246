"""What the desk says about a transport itself."""

from __future__ import annotations

GREETING = "Hello! Ask me about {site}."
STOPPED = "You will get no more messages from {site}. Write again to go on."
FILE_REFUSED = "The file {name} was not taken: {reason}"
CHOICE_OVER = "This is no longer open."
EDITED = "Correction: {text}"
CUT = "(The message was longer; the rest was not read.)"
