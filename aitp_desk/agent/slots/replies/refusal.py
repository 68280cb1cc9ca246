"""Reads refusals, in their many wordings.

Refusals are read generously, because they have no effect. Agreement is not read here: only ``yes``
agrees, and nothing similar.
"""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 400
"""Characters of the longest reply that may be a refusal."""
_APOSTROPHES = re.compile(r"['’`]")
_BREAK = re.compile(r"[^\w\s]+")
_IDLE = (
    r"please|thanks|thank you|thank u|thx|ty|cheers|sorry|oh|ah|well|h+m+|u+h+|u+m+|actually|okay"
    r"|ok|wait|hey|really|honestly|then|though|for now|right now|just now|at all|any ?more"
    r"|very much|so much|a lot|kindly|but|and|on second thoughts?|after all|im afraid|i think"
)
_AROUND = re.compile(rf"(?:\b(?:{_IDLE})\b\s*)+")
_IT = r"(?: (?:it|that|this|them|these|those|everything|all of (?:it|that)|the whole thing))?"

_EXPLICIT = re.compile(
    rf"(?:please |lets |let us |just )?"
    rf"(?:stop|cancel|abort|quit|drop|skip|scrap|forget|forget about){_IT}"
    r"|never ?mind(?: (?:it|that))?"
    r"|(?:lets |let us |just )?(?:leave|keep)"
    r" (?:it|that|this|things|(?:my|the) (?:order|booking|account|visit))"
    r"(?: (?:as (?:it is|they are)|be|alone))?"
    r"|(?:i )?(?:have |ive )?changed my mind"
    r"|i (?:do not|dont|no longer) (?:want|need) (?:it|this|that|to|anything)"
    r"|i (?:decline|refuse)|decline|declined"
    r"|(?:no|nope) (?:thank you|thanks)"
)
"""Rejects anything, whatever the question was."""
_NO = r"(?:no|nope|nah|nay|na|never)"
_PLAIN = re.compile(
    rf"{_NO}(?: {_NO})*(?: (?:sir|way|chance|need|not|dont|do not|stop|cancel|never ?mind){_IT})?"
    r"|(?:(?:absolutely|certainly|definitely|of course|surely|probably|better|maybe|perhaps"
    r"|preferably|rather|i (?:would|d)? ?rather|id rather|i guess|i hope|hopefully) )?not"
    r"(?: (?:now|today|tonight|tomorrow|yet|ever|this time|at the moment|at this time|for me"
    r"|interested|like (?:this|that)|necessary|needed|going to happen|a chance))?"
    r"|(?:by|under) no (?:means|circumstances)"
    r"|(?:maybe |perhaps |rather )?(?:later|another time|another day|some other time|next time)"
    r"(?: maybe| perhaps)?"
    r"|(?:lets|let us) not(?: do)?"
    r"|(?:do not|dont|dont you dare)(?: (?:do|go ahead|proceed|continue|bother))?"
    r"|neither(?: of (?:them|these|those|both))?|none(?: of (?:them|these|those))?|nothing"
)
"""A plain no, and nothing else."""
_ALSO_NO = re.compile(
    rf"{_NO}\b(?! ?(?:problem|worries|idea|doubt|rush|hurry|matter|objections?|questions?|one|other"
    r"|sooner|wonder|kidding|big deal|issue|complaints?|clue|biggie))"
    r"|(?:not|rather not|better not)\b(?! (?:a|sure|certain|clear|quite|only|just|bad|really"
    r"|entirely|understood|so|that i|if|until|unless|before|necessarily|too"
    r"|the (?:problem|point))\b)"
    r"|(?:i )?(?:do not|dont|will not|wont|would not|wouldnt|did not|didnt|cannot|cant)\b"
    r"(?! (?:know|understand|see|get|mind|worry|care|have|remember|forget|think i|follow|recall"
    r"|hesitate|wait|say|complain|you)\b)"
    r"|(?:i )?no longer\b"
)
"""The beginning of a reply that refuses and then gives a reason."""


def is_dropped(text: str) -> bool:
    """Return whether a reply cancels everything, whatever the question was."""
    said = _said(text)
    return bool(_EXPLICIT.fullmatch(_trimmed(said)) or _EXPLICIT.fullmatch(said))


def is_refused(text: str) -> bool:
    """Return whether a reply to a confirmation question says no, and nothing else."""
    return is_dropped(text) or _PLAIN.fullmatch(_trimmed(_said(text))) is not None


def begins_with_no(text: str) -> bool:
    """Return whether a reply begins with a no, whatever follows."""
    return _ALSO_NO.match(_trimmed(_said(text))) is not None


def strip_no(text: str) -> str:
    """Return the text after a separate ``no``: ``no, 3 of them``; else the text unchanged."""
    return _LEAD.sub("", text, count=1)


_LEAD = re.compile(
    r"^\W*(?:(?:oh|sorry|wait|actually|well|hm+)\b\W*)*"
    rf"{_NO}\b(?:\s*[,;.:!–—-]+\s*|\s+(?=(?:i|make|change|it|its|just|only|please|rather|sorry|wait"
    r"|actually|that|use|take|put)\b))",
    re.IGNORECASE,
)


def _said(text: str) -> str:
    """Return the words of a reply in lower case, without signs; none of a long one."""
    if len(text) > _LONGEST:
        return ""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_BREAK.sub(" ", _APOSTROPHES.sub("", folded)).split())


def _trimmed(said: str) -> str:
    """Return the words without polite additions."""
    return " ".join(_AROUND.sub(" ", said).split())
