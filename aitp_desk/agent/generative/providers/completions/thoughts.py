"""Leaves out what a model thinks before it answers, where its server does not. Pure.

Models such as DeepSeek R1 and Qwen write ``<think>…</think>`` before their answer. Most servers
take it out; some, such as a llama.cpp without a reasoning format, pass it on as text.
"""

from __future__ import annotations

_BEGIN, _END = "<think>", "</think>"


class Thoughts:
    """The thoughts at the beginning of one text as it arrives."""

    def __init__(self) -> None:
        self._held = ""
        self._is_inside = False
        self._was_inside = False
        self._is_over = False

    def feed(self, text: str) -> str:
        """Return what is known to be no thought."""
        if self._is_over:
            return text
        self._held += text
        while not self._is_over:
            if self._is_inside:
                _, end, answer = self._held.partition(_END)
                if not end:
                    self._held = self._held[-len(_END) :]
                    return ""
                self._held, self._is_inside, self._was_inside = answer, False, True
            begun = self._held.lstrip()
            if begun != _BEGIN and _BEGIN.startswith(begun):
                return ""
            self._is_inside = begun.startswith(_BEGIN)
            self._is_over = not self._is_inside
        return self.close()

    def close(self) -> str:
        """Return the rest at the end of the text."""
        rest, self._held = self._held, ""
        if self._is_inside:
            return ""
        return rest.lstrip() if self._was_inside else rest
