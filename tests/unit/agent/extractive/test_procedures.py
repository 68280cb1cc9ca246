"""Who asks how to do something is answered by instructions, in the languages of Europe."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.snapshot import open_knowledge

SITE = SiteFacts("Ledger", "https://ledger.example")
GUIDES = {
    "fr": (
        "Comment importer un relevé ?",
        "Cliquez sur Fichier pour importer un relevé.",
        "Importer un relevé évite des erreurs.",
    ),
    "es": (
        "¿Cómo importo un extracto?",
        "Pulse Archivo para importar un extracto.",
        "Importar un extracto evita errores.",
    ),
    "it": (
        "Come importo un estratto?",
        "Fare clic su File per importare un estratto.",
        "Importare un estratto evita errori.",
    ),
    "pt": (
        "Como importo um extrato?",
        "Clique em Ficheiro para importar um extrato.",
        "Importar um extrato evita erros.",
    ),
    "nl": (
        "Hoe importeer ik een afschrift?",
        "Klik op Bestand om een afschrift te importeren.",
        "Een afschrift importeren voorkomt fouten.",
    ),
    "pl": (
        "Jak zaimportować wyciąg?",
        "Kliknij Plik, aby zaimportować wyciąg.",
        "Zaimportować wyciąg znaczy uniknąć błędów.",
    ),
}


@pytest.mark.parametrize("language", GUIDES)
async def test_instructions_answer_before_praise(tmp_path: Path, language: str) -> None:
    question, steps, praise = GUIDES[language]
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "a.md").write_text(f"# A\n\n{praise}\n", "utf-8")
    (folder / "b.md").write_text(f"# B\n\n{steps}\n", "utf-8")
    languages = Languages(language)
    async with open_knowledge(folder, data=tmp_path / "data", languages=languages) as knowledge:
        said = answer(Turn(question, SITE), knowledge.editions.library)
    assert isinstance(said, Answer)
    assert said.text.startswith(steps[:12]), said.text
