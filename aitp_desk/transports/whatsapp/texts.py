"""Words that the transport itself says."""

from __future__ import annotations

_LIST_BUTTON = {
    "en": "Choose",
    "de": "Auswählen",
    "fr": "Choisir",
    "es": "Elegir",
    "it": "Scegli",
    "nl": "Kiezen",
    "pt": "Escolher",
    "pl": "Wybierz",
    "ja": "選択",
    "zh": "选择",
    "ko": "선택",
    "th": "เลือก",
}


def label_of_list(language: str) -> str:
    """Return the label of the button that opens a list of choices; at most 20 characters."""
    return _LIST_BUTTON.get(language.partition("-")[0].lower(), _LIST_BUTTON["en"])
