"""Which language a site's pages are in, where its owner has not said so."""

from __future__ import annotations

import pytest

from aitp_desk.knowledge.documents.detection import detect_language

GERMAN = '<!doctype html><html class="no-js" lang="de-AT"><p>Öffnungszeiten</p>'
ENGLISH = "<html lang=en><p>Opening hours</p>"


def test_pages_tell_their_language(subtests: pytest.Subtests) -> None:
    cases: list[tuple[list[str], str | None]] = [
        ([GERMAN, GERMAN, ENGLISH], "de-AT"),
        ([GERMAN, ENGLISH, ENGLISH], None),
        ([ENGLISH], None),
        ([], None),
        (["# 配送\n\n配送料は全国一律です。"], "ja"),
        (["<html lang=en><script>const a = 1;</script><p>全国统一运费为12元。</p>"], "zh"),
        (["# 배송\n\n배송비는 3,000원입니다."], "ko"),
        (["ค่าจัดส่ง 50 บาท"], "th"),
        (["# Names\n\nThe sign 東 is read *east*, and 西 is read *west* in this book."], None),
        (["# Café\n\nOuvert le dimanche."], None),
        (["# Abfall\n\nSperrmüll wird abgeholt. Melden Sie ihn mit der Karte an."], "de"),
        (["# Pain\n\nLe pain et les gâteaux sont faits ici, dans la nuit."], "fr"),
        (["# Pan\n\nEl pan y los pasteles se hacen aquí, por la noche."], "es"),
        (["# Bread\n\nBread is made here in the night; *le pain*, *das Brot*, *el pan*."], None),
        (["# Code\n\n```\nder = die or das or ist\n```"], None),
    ]
    for pages, tag in cases:
        with subtests.test(pages=pages, tag=tag):
            assert detect_language(page.encode() for page in pages) == tag
