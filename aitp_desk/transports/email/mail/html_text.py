"""Turns the HTML of a mail into text and marks its quotations and signatures.

The class names and ids by which mail programs label them are the programs' own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from aitp_desk.transports.email.mail.quotation import marks
from aitp_desk.transports.wire.html_text import HtmlReader

_NO_BORDER = re.compile(r"border\s*:\s*(?:none|0)", re.IGNORECASE)
_OUTLOOK_RULE = re.compile(r"border-top:\s*solid\s+#(?:e1e1e1|b5c4df)\s+1\.0pt", re.IGNORECASE)
_QUOTATION_IDS = re.compile(
    r"(?:x_)*(?:divRplyFwdMsg|appendonsend|OLK_SRC_BODY_SECTION|zwchr|replySplit"
    r"|mail-editor-reference-message-container|ms-outlook-mobile-reference-message"
    r"|isReplyContent|oriMsgHtmlSeperator)"
)
_QUOTATION_CLASSES = frozenset(
    "yahoo_quoted OutlookMessageHeader zmail_extra protonmail_quote tutanota_quote "
    "ntes-mailmaster-quote".split()
)
_OPEN_CLASSES = frozenset({"OutlookMessageHeader"})
"""What they label is only the head of the quotation."""
_SIGNATURE_CLASSES = frozenset(
    "gmail_signature moz-signature protonmail_signature_block tutanota_signature".split()
)
_SIGNATURE_IDS = re.compile(r"(?:x_)*(?:Signature|ms-outlook-mobile-signature|composer_signature)")
_EMOJI_LENGTH = 8


class MailReader(HtmlReader):
    """Reads the HTML of one mail."""

    end_mark = marks.END

    def is_quotation(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Return whether an element is quoted text; one that is only indented is not."""
        if name == "blockquote":
            style = attributes.get("style", "")
            is_indented = _NO_BORDER.search(style) and "border-left" not in style
            return attributes.get("type", "").lower() == "cite" or not is_indented
        return name == "div" and attributes.get("name", "") in {"quote", "messageReplySection"}

    def find_mark(self, attributes: Mapping[str, str]) -> tuple[str, bool]:
        """Return the mark of a signature or a quotation."""
        if not attributes:
            return "", False
        classes = attributes.get("class", "").split()
        id = attributes.get("id", "")
        if (id and _SIGNATURE_IDS.fullmatch(id)) or _SIGNATURE_CLASSES.intersection(classes):
            return marks.SIGNATURE, False
        if _OUTLOOK_RULE.search(attributes.get("style", "")):
            return marks.QUOTATION, True
        if id and _QUOTATION_IDS.fullmatch(id):
            return marks.QUOTATION, True
        found = _QUOTATION_CLASSES.intersection(classes)
        return (marks.QUOTATION, bool(found & _OPEN_CLASSES)) if found else ("", False)

    def show_image(self, alt: str) -> str:
        """Return the character that a picture stands for, such as an emoji."""
        short = alt[:_EMOJI_LENGTH]
        is_character = not short.isascii() and not any(c.isalnum() for c in short)
        return short if is_character else ""
