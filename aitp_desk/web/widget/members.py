"""Names the members that only the chat's own objects have, to be served shorter.

None is a member of a message, of a setting, or of an object of the browser that the chat uses.
"""

from __future__ import annotations

from typing import Final

OWN_MEMBERS: Final = frozenset(
    """
    address again allow answerer askAddress attached banner box call changed cite claim client
    composer conversation countUnseen deck drafts element erase failure fault follow followUps foot
    forget give group hasLapsed heading hold holder host isAnswering isAwaited isBegun isHeading
    isKnown isLinked isOn isOpen isOwned keep keepDrafts kinds last lay leave line listen log
    makeChoices markSeen masked memory menu next note onevent ongap onover onseen onstate onthread
    option outbox own panel party person post posted product rate readPicture readVisitor refuse
    reply restart restore retry run said say scrollToEnd see seen sender sending settings settle
    settled showTyping shown signIn sleep spoken stream submit table take tell thread threads timer
    transcript typing unseen update view visitor wake watch welcome write writing wrong
    """.split()
)
