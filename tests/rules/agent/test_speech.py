"""Questions in other languages as the agent reads them, and what the desk says in each."""

from __future__ import annotations

import string
from importlib.resources import files

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent import speech
from aitp_desk.agent.speech import speech_of, spoken

LANGUAGES = sorted(
    file.name.removesuffix(".toml")
    for file in files(speech).iterdir()
    if file.name.endswith(".toml")
)


@pytest.mark.parametrize(
    ("tag", "question", "read"),
    [
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
        ("fr", "Bonjour ! Combien coûte l’envoi ?", "how much is coute envoi ?"),
        ("de", "Hallo, was macht --no-ff?", "what macht --no-ff?"),
        ("it", "Buongiorno, dov'è il negozio?", "where is negozio?"),
        ("it", "Com’è fatto?", "how is fatto?"),
        ("nl", "Hoe lang duurt de levering?", "how long duurt levering?"),
        ("pt", "Quanto tempo demora a entrega?", "how long demora entrega?"),
        ("en", "How long  is it, Anna?", "How long  is it, Anna?"),
        ("sv", "Hur länge?", "Hur länge?"),
    ],
)
def test_a_question_is_put_as_english_asks_it(tag: str, question: str, read: str) -> None:
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


def test_several_words_are_quoted_in_a_row() -> None:
    assert speech_of("en").quote(["a"]) == "“a”"
    assert speech_of("en").quote(["a", "b", "c"]) == "“a”, “b” or “c”"
    assert speech_of("de").quote(["a", "b"]) == "„a“ oder „b“"


def _gaps(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
