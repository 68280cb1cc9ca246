"""Marks that a test can read."""

from __future__ import annotations

from aitp_desk.transports.wire.markup import Marks


class Brackets(Marks):
    """Each mark in brackets, with its name."""

    def escape(self, text: str) -> str:
        return text

    def strong(self, text: str) -> str:
        return f"[strong {text}]"

    def emphasis(self, text: str) -> str:
        return f"[em {text}]"

    def strike(self, text: str) -> str:
        return f"[del {text}]"

    def code(self, text: str) -> str:
        return f"[code {text}]"

    def block(self, text: str, language: str) -> str:
        return f"[block {language} {text}]"

    def link(self, label: str, url: str) -> str:
        return f"[link {label} {url}]"

    def quote(self, text: str) -> str:
        return f"[quote {text}]"
