"""What an action needs, in each language."""

from __future__ import annotations

import pytest

from aitp_desk.desk.dialogue.tools.access_notice import NOTICE_LANGUAGES, AccessNotice
from aitp_desk.web.widget.assets import read_texts


def test_all_languages_of_the_chat_have_it() -> None:
    assert set(read_texts()) <= set(NOTICE_LANGUAGES)


@pytest.mark.parametrize("language", NOTICE_LANGUAGES)
def test_it_names_the_site_the_scope_and_the_page(language: str) -> None:
    key = AccessNotice("Books", has_sign_in=False).write("cancel", f"{language}-XX")
    assert "Books" in key.text
    assert "actions:cancel" in key.text
    assert key.locale == language
    person = AccessNotice("Books", False, "/keys", "a@b.example").write(
        "cancel", language, to_person=True
    )
    assert key.text.startswith(person.text.removesuffix("\n\na@b.example"))
    assert "actions:" not in person.text
    assert person.text.endswith("\n\na@b.example")
    sign_in = AccessNotice("Books", has_sign_in=True, url="https://b.example/in")
    text = sign_in.write("cancel", language).text
    assert "Books" in text
    assert text.endswith("\n\nhttps://b.example/in")
    assert "{" not in text


def test_other_languages_are_answered_in_english() -> None:
    notice = AccessNotice("Books", has_sign_in=True)
    assert notice.write("cancel", "sv").text.startswith("You need to be signed in")


def test_a_way_to_sign_in_is_no_answer() -> None:
    assert not AccessNotice("Books", has_sign_in=True).write("cancel", "en").found
