"""Sentences that the transport itself says."""

from __future__ import annotations

_COMMAND = {
    "en": "Thank you. The answer comes as a direct message.",
    "de": "Danke. Die Antwort kommt als Direktnachricht.",
    "fr": "Merci. La réponse arrive en message direct.",
    "es": "Gracias. La respuesta llega como mensaje directo.",
    "it": "Grazie. La risposta arriva come messaggio diretto.",
    "nl": "Bedankt. Het antwoord komt als direct bericht.",
    "pt": "Obrigado. A resposta chega como mensagem direta.",
    "pl": "Dziękujemy. Odpowiedź nadejdzie w wiadomości bezpośredniej.",
    "zh": "谢谢。回答将以私信发送给您。",
    "ko": "감사합니다. 답변은 다이렉트 메시지로 보내 드립니다.",
    "th": "ขอบคุณ คำตอบจะส่งทางข้อความส่วนตัว",
    "ja": "ありがとうございます。回答はダイレクトメッセージでお送りします。",
}


def notice_of_command(language: str) -> str:
    """Return what a person reads at once who has asked by a command."""
    return _COMMAND.get(language.partition("-")[0].lower(), _COMMAND["en"])
