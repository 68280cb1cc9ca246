"""What the desk says about a transport itself."""

from __future__ import annotations

GREETING = "Hello! Ask me about {site}."
STOPPED = "You will get no more messages from {site}. Write again to go on."
FILE_REFUSED = "The file {name} was not taken: {reason}"
CHOICE_OVER = "This is no longer open."
EDITED = "Correction: {text}"
CUT = "(The message was longer; the rest was not read.)"
JOINED = "We go on here with what we talked about."
CODE_INVALID = "This code is not valid any more. Ask for another one with /continue."
CONFIRM_SUBJECT = "Your question to {site}"
CONFIRM = (
    "There is a request to send the answers of a conversation with {site} to this address."
    " If that was you, press the button. If not, ignore this mail: there will be no other."
)
CONFIRM_LABEL = "Yes, send me the answers"
CONFIRMED = "Thank you. The answers come to this address from now on."
