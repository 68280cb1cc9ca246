"""What cannot be opened."""

from __future__ import annotations


class Undecipherable(Exception):
    """Something encrypted does not open.

    Parameters:
        why: a sentence for whoever sent it. What failed in particular is told to nobody.
    """

    def __init__(
        self, why: str = "It does not open: it is encrypted for another key, or was changed."
    ) -> None:
        super().__init__(why)
        self.why = why
