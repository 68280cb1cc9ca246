"""The few sentences that the transport adds, in the languages of the chat."""

from __future__ import annotations

from typing import Literal

Phrase = Literal["choose", "encrypted", "sources"]

_PHRASES: dict[str, dict[Phrase, str]] = {
    "en": {
        "choose": "Reply with a number, or press a reaction.",
        "encrypted": "This room is encrypted, and this desk cannot read encrypted messages."
        " Please write in a room without encryption.",
        "sources": "Sources",
    },
    "de": {
        "choose": "Antworten Sie mit einer Zahl, oder drücken Sie eine Reaktion.",
        "encrypted": "Dieser Raum ist verschlüsselt, und verschlüsselte Nachrichten können hier"
        " nicht gelesen werden. Bitte schreiben Sie in einem Raum ohne Verschlüsselung.",
        "sources": "Quellen",
    },
    "fr": {
        "choose": "Répondez par un numéro, ou appuyez sur une réaction.",
        "encrypted": "Ce salon est chiffré, et les messages chiffrés ne peuvent pas être lus ici."
        " Veuillez écrire dans un salon sans chiffrement.",
        "sources": "Sources",
    },
    "es": {
        "choose": "Responda con un número o pulse una reacción.",
        "encrypted": "Esta sala está cifrada y aquí no se pueden leer mensajes cifrados."
        " Escriba en una sala sin cifrado.",
        "sources": "Fuentes",
    },
    "it": {
        "choose": "Risponda con un numero o prema una reazione.",
        "encrypted": "Questa stanza è cifrata e qui non è possibile leggere messaggi cifrati."
        " Scriva in una stanza senza cifratura.",
        "sources": "Fonti",
    },
    "nl": {
        "choose": "Antwoord met een nummer of druk op een reactie.",
        "encrypted": "Deze kamer is versleuteld, en versleutelde berichten kunnen hier niet worden"
        " gelezen. Schrijf in een kamer zonder versleuteling.",
        "sources": "Bronnen",
    },
    "pt": {
        "choose": "Responda com um número ou toque numa reação.",
        "encrypted": "Esta sala está encriptada e não é possível ler aqui mensagens encriptadas."
        " Escreva numa sala sem encriptação.",
        "sources": "Fontes",
    },
    "pl": {
        "choose": "Odpowiedz numerem lub naciśnij reakcję.",
        "encrypted": "Ten pokój jest szyfrowany, a zaszyfrowanych wiadomości nie można tu"
        " odczytać. Napisz w pokoju bez szyfrowania.",
        "sources": "Źródła",
    },
    "ja": {
        "choose": "番号で返信するか、リアクションを押してください。",
        "encrypted": "このルームは暗号化されており、ここでは暗号化されたメッセージを読むことが"
        "できません。暗号化されていないルームでお書きください。",
        "sources": "出典",
    },
    "zh": {
        "choose": "请回复编号，或点按表情回应。",
        "encrypted": "此房间已加密，这里无法读取加密消息。请在未加密的房间中发送消息。",
        "sources": "来源",
    },
}


def phrase(name: Phrase, language: str) -> str:
    """Return a sentence in a language (BCP 47), or else in English."""
    return _PHRASES.get(language.partition("-")[0].lower(), _PHRASES["en"])[name]
