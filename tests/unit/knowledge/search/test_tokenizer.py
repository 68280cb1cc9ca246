"""How texts are cut into the words that a search compares."""

from __future__ import annotations

import pytest

from aitp_desk.knowledge.search.tokenizer import fold_text, make_stems, split_words, to_plain_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("配送料は全国一律500円", "配送 送料 全国 国一 一律 500 円"),
        ("クレジットカードが使えます", "クレジットカード 使 えま ます"),
        ("ﾒｰﾙ、サーバーとサーバ", "メール サーバ サーバ"),
        ("ガラス", "ガラス"),
        ("ソフトウエアとヴァイオリン", "ソフトウェア バイオリン"),
        ("可以退货吗？USB接口", "可以 以退 退货 货吗 usb 接口"),
        ("배송비는 책", "배송 송비 비는 책"),
        ("จัดส่ง", "จัด ัดส ดส่ ส่ง"),
        ("हिन्दी में", "हिन्दी में"),
        ("os.path を使う", "os path ːosːpath 使"),
        ("Größe Straße œuvre Łódź", "grosse strasse oeuvre lodz"),
        ("Öffnungszeiten Café", "offnungszeiten cafe"),
        ("RetryAgent, GitHub", "retryagent retry agent github"),
    ],
)
def test_a_text_is_cut_as_its_script_is_searched(text: str, words: str) -> None:
    assert split_words(text) == words.split()


def test_words_of_scripts_without_endings_are_their_own_stems() -> None:
    words = split_words("配送料 サーバ 배송비 จัดส่ง हिन्दी")
    assert make_stems(words) == {word: word for word in words}


def test_signs_that_tell_words_apart_are_no_accents() -> None:
    assert fold_text("がか") == "がか"
    assert fold_text("ＡＢＣ１２") == "abc12"
    assert to_plain_words("ขอบคุณ! ค่ะ") == "ขอบคุณ ค่ะ"
