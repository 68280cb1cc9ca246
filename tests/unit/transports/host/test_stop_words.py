"""Messages that end all messages of the desk."""

from __future__ import annotations

import pytest

from aitp_desk.transports.host.settings import CommonSettings

COMMON = CommonSettings()


@pytest.mark.parametrize(
    "text",
    [
        *("STOP", " stop. ", "Stop!!", "'stop'", "stop\nall"),
        *("ＳＴＯＰ", "Unsubscribe", "Abmelden", "De\u0301sabonner", "BAJA", "Afmelden"),
        *("Annulla iscrizione", "Cancelar subscrição", "Wypisz", "配信停止。", "退订！", "退訂"),
        *("수신거부", "수신 거부", "เลิกรับข้อความ"),
        # as people write on telephones, and as operators of networks name them
        *("Stopp!", "ARRET", "Sair", "Desabonner", "cancelar subscricao", "me desabonner"),
    ],
)
def test_a_word_ends_them_in_every_language(text: str) -> None:
    assert COMMON.is_stop_word(text)


@pytest.mark.parametrize(
    "text", ["", "stop it", "Stoppen Sie das.", "\u0301", "Does the bus stop here?", "stop " * 1000]
)
def test_other_messages_do_not(text: str) -> None:
    assert not COMMON.is_stop_word(text)


def test_a_site_names_its_own() -> None:
    assert CommonSettings(stop_words=("Genug",)).is_stop_word("genug.")
    assert not CommonSettings(stop_words=("Genug",)).is_stop_word("stop")
