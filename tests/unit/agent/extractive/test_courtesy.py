"""Which messages are nothing but a courtesy, and which agree to what was just asked."""

from __future__ import annotations

import pytest

from aitp_desk.agent.extractive.dialogue.courtesy import (
    find_courtesy,
    is_agreement,
    is_refusal,
    says_pay,
)
from aitp_desk.agent.speech import speech_of


def test_a_courtesy_is_recognised_in_its_language(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str]] = [
        ("hello", "hello", "en"),
        ("Hi!", "hello", "en"),
        ("hey there", "hello", "en"),
        ("Good morning", "hello", "en"),
        ("thanks", "thanks", "en"),
        ("Thank you so much!!", "thanks", "en"),
        ("ok, thanks", "thanks", "en"),
        ("Great, thank you. That's all.", "thanks", "en"),
        ("hi, thanks", "thanks", "en"),
        ("thanks, bye", "bye", "en"),
        ("Good night", "bye", "en"),
        ("see you later", "bye", "en"),
        ("Guten Tag", "hello", "de"),
        ("Vielen Dank für die Hilfe", "thanks", "de"),
        ("Tschüss", "bye", "de"),
        ("Bonjour à tous", "hello", "fr"),
        ("Merci beaucoup !", "thanks", "fr"),
        ("Au revoir", "bye", "fr"),
        ("¡Hola!", "hello", "es"),
        ("muchas gracias", "thanks", "es"),
        ("hasta luego", "bye", "es"),
        ("Buongiorno", "hello", "it"),
        ("grazie mille", "thanks", "it"),
        ("arrivederci", "bye", "it"),
        ("goedemorgen", "hello", "nl"),
        ("dank je wel", "thanks", "nl"),
        ("tot ziens", "bye", "nl"),
        ("Dzień dobry!", "hello", "pl"),
        ("dziękuję bardzo", "thanks", "pl"),
        ("do widzenia", "bye", "pl"),
        ("Olá", "hello", "pt"),
        ("muito obrigada", "thanks", "pt"),
        ("até logo", "bye", "pt"),
        ("Grüezi", "hello", "de"),
        ("Servus!", "hello", "de"),
        ("Moin", "hello", "de"),
        ("are you a bot?", "program", "en"),
        ("Hi, am I talking to a real person?", "program", "en"),
        ("are you human or a machine", "program", "en"),
        ("Bist du ein Bot?", "program", "de"),
        ("Spreche ich hier mit einem Menschen?", "program", "de"),
        ("Êtes-vous un robot ?", "program", "fr"),
        ("¿Eres un bot?", "program", "es"),
        ("Sei un robot?", "program", "it"),
        ("Ben je een bot?", "program", "nl"),
        ("Czy jesteś człowiekiem?", "program", "pl"),
        ("Você é um robô?", "program", "pt"),
        ("あなたはボットですか？", "program", "ja"),
        ("로봇인가요?", "program", "ko"),
        ("คุณเป็นบอทหรือเปล่า", "program", "th"),
        ("你是机器人吗？", "program", "zh"),
        ("こんにちは", "hello", "ja"),
        ("ありがとうございます！", "thanks", "ja"),
        ("はい、わかりました。ありがとう。", "thanks", "ja"),
        ("你好", "hello", "zh"),
        ("谢谢你的帮助", "thanks", "zh"),
        ("再见", "bye", "zh"),
        ("안녕하세요", "hello", "ko"),
        ("네, 감사합니다", "thanks", "ko"),
        ("สวัสดีครับ", "hello", "th"),
        ("hello?", "hello", "en"),
        ("Hi, is anyone there?", "hello", "en"),
        ("Anybody here?", "hello", "en"),
        ("Ist da jemand?", "hello", "de"),
        ("Il y a quelqu'un ?", "hello", "fr"),
        ("Y a-t-il quelqu’un ?", "hello", "fr"),
        ("¿Hay alguien ahí?", "hello", "es"),
        ("C'è qualcuno?", "hello", "it"),
        ("Is er iemand?", "hello", "nl"),
        ("Czy jest tu ktoś?", "hello", "pl"),
        ("Tem alguém aí?", "hello", "pt"),
        ("誰かいますか？", "hello", "ja"),
        ("누구 계세요?", "hello", "ko"),
        ("在吗？", "hello", "zh"),
        ("มีใครอยู่ไหม?", "hello", "th"),
        ("ขอบคุณค่ะ", "thanks", "th"),
    ]
    for words, kind, tag in cases:
        with subtests.test(words=words, kind=kind, tag=tag):
            found = find_courtesy(words, speech_of("en"))
            assert found is not None
            assert (found.kind, found.speech.tag) == (kind, tag)
            assert found.answer("Lamps")
            assert "{" not in found.answer("Lamps")


def test_what_says_more_is_no_courtesy(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        "",
        "…",
        "ok",
        "great",
        "good",
        "yes",
        "thanks, and what about returns?",
        "thanks and returns",
        "thank you note cards",
        "hello kitty",
        "hello world tutorial",
        "hi, do you ship",
        "say hello",
        "is anyone there who ships abroad?",
        "is anyone",
        "thanks?",
        "high boots",
        "goodbye letters",
        "thanks " * 20,
        "is there a computer?",
        "is this a program?",
        "are you a person of the board?",
        "merci de me dire le prix",
        "danke, aber was kostet der Versand",
        "こんにちは、返品できますか",
        "你好，请问运费是多少",
        "谢谢？",
        "네",
    ]
    for words in cases:
        with subtests.test(words=words):
            assert find_courtesy(words, speech_of("en")) is None


def test_what_several_languages_say_is_read_in_that_of_the_site() -> None:
    for tag in ("de", "it", "nl"):
        found = find_courtesy("hallo" if tag == "nl" else "ciao", speech_of(tag))
        assert found is not None
        assert found.speech.tag == tag


def test_what_agrees_is_read_in_every_language(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        *("yes please", "sure", "ok", "Okay!", "go ahead", "yep", "please do", "yes"),
        *(
            "ja, gerne",
            "oui, volontiers",
            "sí, claro",
            "sì, grazie",
            "ja graag",
            "sim",
            "tak, poproszę",
        ),
        *("はい", "はい、お願いします", "是", "好的。", "네", "네, 부탁드립니다", "ใช่ครับ"),
    ]
    for words in cases:
        with subtests.test(words=words):
            assert is_agreement(words)


@pytest.mark.parametrize(
    "words", ["", "ok?", "sure, but only 1", "yes, not now", "no", "please", "thanks", "ok then no"]
)
def test_what_says_more_does_not_agree(words: str) -> None:
    assert not is_agreement(words)


@pytest.mark.parametrize(
    "words",
    [
        "nein",
        "Nein, danke!",
        "non merci",
        "no gracias",
        "nee, dank je",
        "Nie, dziękuję.",
        "いいえ",
        "不用了，谢谢",
        "아니요",
    ],
)
def test_a_no_is_read_in_every_language(words: str) -> None:
    assert is_refusal(words)
    assert not is_agreement(words)


@pytest.mark.parametrize("words", ["", "no?", "nein, aber 2 davon", "yes", "不知道", "normal"])
def test_what_says_more_is_no_refusal(words: str) -> None:
    assert not is_refusal(words)


@pytest.mark.parametrize(
    "words",
    [
        "Pay",
        "I'll pay!",
        "Ich möchte bezahlen.",
        "Je paie",
        "Pago",
        "Zapłacę.",
        "支払います。",
        "付款",
    ],
)
def test_who_says_that_they_pay_is_understood(words: str) -> None:
    assert says_pay(words)


@pytest.mark.parametrize("words", ["Pay?", "I pay too much for shipping", "Can I pay by card?", ""])
def test_what_says_more_pays_nothing(words: str) -> None:
    assert not says_pay(words)
