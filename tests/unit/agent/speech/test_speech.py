"""Questions in other languages as the agent reads them, and what the desk says in each."""

from __future__ import annotations

import string
import weakref
from importlib.resources import files
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent import speech
from aitp_desk.agent.speech import speech_of, spoken
from aitp_desk.agent.speech.recognition import detect_question_language
from aitp_desk.config.sections.widget import WidgetLanguage

LANGUAGES = sorted(
    file.name.removesuffix(".toml")
    for file in files(speech).iterdir()
    if file.name.endswith(".toml")
)


class Words(str):
    """A text of which is known whether somebody keeps it."""


def test_of_a_long_text_the_beginning_alone_is_kept() -> None:
    words = Words("Où se trouve le magasin, et quand est-il ouvert ? " * 5000)
    kept = weakref.ref(words)
    assert detect_question_language(words, "en") == "fr"
    del words
    assert kept() is None


def test_a_question_is_put_as_english_asks_it(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str]] = [
        ("fr", "Quel est le délai de retour d’un livre ?", "what is delai retour livre ?"),
        ("fr-CA", "Combien coûte l'emballage ?", "how much is coute emballage ?"),
        ("fr", "Jusqu'à quand ?", "until when ?"),
        ("fr", "Et pour les livres d'occasion ?", "and what about livres occasion ?"),
        ("fr", "Que coûte-t-il ?", "coute-it ?"),
        ("de", "Wie lange ist die Rückgabefrist?", "how long ruckgabefrist?"),
        ("de", "Was kostet der Versand?", "how much is kostet versand?"),
        ("es", "¿Cuánto cuesta el envío?", "how much is cuesta envio?"),
        ("it", "Qual è il prezzo dell'imballaggio?", "how much is prezzo imballaggio?"),
        ("es", "Hola, ¿cuánto cuesta el envío?", "how much is cuesta envio?"),
        ("es", "Hola. ¿Cuánto cuesta?", "how much is cuesta?"),
        ("fr", "À quoi sert le fichier fstab ?", "what is fichier fstab ?"),
        ("es", "¿Para qué sirve fstab?", "what is fstab?"),
        ("de", "Wozu dient die Sperre?", "what is sperre?"),
        ("fr", "Bonjour ! Combien coûte l’envoi ?", "how much is coute envoi ?"),
        ("de", "Hallo, was macht --no-ff?", "what --no-ff?"),
        ("it", "Buongiorno, dov'è il negozio?", "where is negozio?"),
        ("it", "Com’è fatto?", "how is fatto?"),
        ("nl", "Hoe lang duurt de levering?", "how long duurt levering?"),
        ("pl", "Ile kosztuje wysyłka do Niemiec?", "how much is kosztuje wysylka do niemiec?"),
        ("pl", "Jak długo trwa dostawa?", "how long trwa dostawa?"),
        ("pl", "A co z książkami?", "and what about ksiazkami?"),
        ("pt", "Quanto tempo demora a entrega?", "how long demora entrega?"),
        ("ja", "返品はいつまでできますか？", "until when can i 返品は?"),
        ("ja", "昨日注文しました。いつ届きますか？", "昨日注文. when 届き?"),
        ("ja", "いつも混んでいますか", "いつも混んで"),
        ("zh", "请问运费是多少钱？", "how much is 运费?"),
        ("zh-TW", "為什麼沒有會員價格？", "why 沒有會員價格?"),
        ("ko", "배송비는 얼마예요?", "how much is 배송비?"),
        ("ko", "신용카드로 결제할 수 있나요?", "can i 신용카드 결제?"),
        ("th", "ค่าจัดส่งเท่าไหร่ครับ", "how much ค่าจัดส่ง"),
        ("en", "How long  is it, Anna?", "How long  is it, Anna?"),
        ("sv", "Hur länge?", "Hur länge?"),
    ]
    for tag, question, read in cases:
        with subtests.test(tag=tag, question=question, read=read):
            assert speech_of(tag).plain(question) == read


@pytest.mark.parametrize("tag", LANGUAGES)
@given(text=st.text(max_size=200))
def test_any_text_can_be_read(tag: str, text: str) -> None:
    plain = speech_of(tag).plain(text)
    assert speech_of(tag).plain(plain + "?").endswith("?")


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_language_says_the_same_with_the_same_put_in(tag: str) -> None:
    english, says = speech_of("en").says, speech_of(tag).says
    for name in msgspec.structs.asdict(english):
        assert _gaps(getattr(says, name)) == _gaps(getattr(english, name)), name


def test_a_language_that_the_desk_does_not_know_is_answered_in_english() -> None:
    assert speech_of("sv-SE").says == speech_of("en").says
    assert (spoken("sv-SE"), spoken("fr-CA"), spoken("en-GB")) == ("en", "fr-CA", "en-GB")


@pytest.mark.parametrize(
    ("question", "own", "language"),
    [
        ("How long does shipping take?", "de", "en"),
        ("How long does shipping take?", "en", "en"),
        ("Was kostet das Paket?", "en", "de"),
        ("Combien coûte la livraison ?", "en", "fr"),
        ("Jak długo trwa dostawa do Niemiec?", "en", "pl"),
        ("Czy mogę zwrócić książkę?", "de", "pl"),
        ("How do I return it?", "pl", "en"),
        ("返品できますか", "en", "ja"),
        ("返品方法", "ja-JP", "ja-JP"),
        ("退货方法", "en", "zh"),
        ("배송비", "en", "ko"),
        ("ค่าจัดส่ง", "en", "th"),
        ("LibreOffice?", "de", "de"),
        ("returns", "de", "de"),
        ("Hur länge tar det?", "sv", "sv"),
    ],
)
def test_the_language_of_a_question_is_recognised(question: str, own: str, language: str) -> None:
    assert detect_question_language(question, own) == language


def test_the_desk_has_sentences_in_every_language_of_the_chat() -> None:
    assert set(get_args(WidgetLanguage)) <= set(LANGUAGES)


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_language_has_a_name_for_every_other(tag: str) -> None:
    introductions = {speech_of(tag).introduce(other) for other in (*LANGUAGES, "sv")}
    assert len(introductions) == len(LANGUAGES) + 1


def test_several_words_are_quoted_in_a_row() -> None:
    assert speech_of("en").quote(["a"]) == "“a”"
    assert speech_of("en").quote(["a", "b", "c"]) == "“a”, “b” or “c”"
    assert speech_of("de").quote(["a", "b"]) == "„a“ oder „b“"


def _gaps(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize(
    ("said", "subject"),
    [
        ("Habt ihr ein Becken für zwei Kinder?", "becken kinder?"),
        ("Könnt ihr liefern?", "liefern?"),
    ],
)
def test_the_words_of_a_german_question_are_no_subject(said: str, subject: str) -> None:
    assert speech_of("de").plain(said) == subject
