"""A docstring in its parts, in the styles that people write."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.actions.declaration.docstring import ParsedDocstring, read_docstring

WRITTEN = {
    "nothing": ("", ParsedDocstring()),
    "a line": ("Cancels an order.", ParsedDocstring("Cancels an order.")),
    "a paragraph that goes on": (
        """
        Cancels an order
        that is open.
        """,
        ParsedDocstring("Cancels an order that is open."),
    ),
    "a description": (
        """
        Cancels an order.

        It cannot be undone.

        - Nothing is sent.
        - The money goes back.
        """,
        ParsedDocstring(
            "Cancels an order.",
            "It cannot be undone.\n\n- Nothing is sent.\n- The money goes back.",
        ),
    ),
    "Google's style": (
        """
        Cancels an order.

        Args:
            order_id (str): the order's number: ORD and
                six digits.
            reason (str, optional): why. Note: it is
                read by people.

            **rest: others.
            placed_at, ended_at: Unix seconds.

        Returns:
            Whether it was: yes.

        Raises:
            KeyError: never.
        """,
        ParsedDocstring(
            "Cancels an order.",
            "",
            {
                "order_id": "the order's number: ORD and six digits.",
                "reason": "why. Note: it is read by people.",
                "rest": "others.",
                "placed_at": "Unix seconds.",
                "ended_at": "Unix seconds.",
            },
        ),
    ),
    "a plain list": (
        """
        An order.

        Parameters:
        id: its number.
        state: open or sent.
        """,
        ParsedDocstring("An order.", "", {"id": "its number.", "state": "open or sent."}),
    ),
    "two lists": (
        """
        An order.

        Args:
          id: its number.
        Attributes:
          state: open or sent.
        """,
        ParsedDocstring("An order.", "", {"id": "its number.", "state": "open or sent."}),
    ),
    "what follows a list": (
        """
        An order.

        Args:
            id: its number.

        Warning: this is for programmers.
        """,
        ParsedDocstring("An order.", "", {"id": "its number."}),
    ),
    "a member without a text": (
        """
        An order.

        Args:
            id:
                its number.
            state:
        """,
        ParsedDocstring("An order.", "", {"id": "its number.", "state": ""}),
    ),
    "a list without anything before": (
        """
        Args:
            id: its number.
        """,
        ParsedDocstring("", "", {"id": "its number."}),
    ),
    "a sentence with a colon": ("Note: this is slow.", ParsedDocstring("Note: this is slow.")),
}


@pytest.mark.parametrize("style", WRITTEN)
def test_a_docstring_is_taken_apart(style: str) -> None:
    text, expected = WRITTEN[style]
    assert read_docstring(text) == expected
    assert read_docstring(inspect.cleandoc(text)) == expected


def test_a_docstring_that_is_not_there_says_nothing() -> None:
    assert read_docstring(None) == ParsedDocstring()


LINES = st.lists(
    st.sampled_from(["Args:", "a: b", "    a: b", "        c", "", "text", "Returns:"])
)


@given(lines=LINES, text=st.text())
def test_whatever_is_written_can_be_read(lines: list[str], text: str) -> None:
    for written in ("\n".join(lines), text):
        doc = read_docstring(written)
        assert "\n" not in doc.summary
        assert doc.description == "" or doc.summary
