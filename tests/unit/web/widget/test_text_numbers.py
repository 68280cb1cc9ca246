"""The names of texts become numbers, in the code and in its catalogues."""

from __future__ import annotations

from aitp_desk.web.widget.text_numbers import list_texts, number_texts

CODE = """
text("greeting", { site });
counted(
  "unread", 2);
isOver ? text("left") : text("joined");
icon("close", text("close"), text("left"));
"""


def test_a_text_has_one_number_in_code_and_catalogue() -> None:
    code, names = number_texts(CODE, ("open", "close"))
    assert names == ["open", "close", "greeting", "unread", "left", "joined"]
    for numbered in ("text(2, { site })", "counted(3, 2)", "text(4) : text(5)"):
        assert numbered in code
    assert 'icon("close", text(1), text(4))' in code


def test_the_forms_of_a_plural_are_one_text() -> None:
    texts = {"left": "Bye", "unread.few": "2", "unread.one": "1", "unread.other": "{count}"}
    assert list_texts(texts, ("unread", "left")) == ["1|2|{count}", "Bye"]
