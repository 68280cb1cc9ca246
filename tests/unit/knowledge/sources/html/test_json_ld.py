"""Facts that pages declare as JSON-LD."""

import json
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.html.json_ld import write_facts
from aitp_desk.knowledge.sources.loader import load_content


def said(tmp_path: Path, declared: Any, shown: str = "Welcome to it.") -> list[tuple[str, str]]:
    """The headings and texts of all units of a page that declares something."""
    text = json.dumps(declared).replace("</", "<\\/")
    page = (
        f'<head><script type="application/ld+json">{text}</script></head>'
        f"<main><h1>The page</h1><p>{shown}</p></main>"
    )
    tmp_path.joinpath("a.html").write_text(page, "utf-8")
    (document,) = load_content(tmp_path).documents
    units = [(one.heading, unit.text) for one in split_passages(document) for unit in one.units]
    return units[1:]


@pytest.mark.parametrize(
    ("declared", "facts"),
    [
        (
            {
                "@context": "https://schema.org",
                "@type": "Product",
                "name": "Tent",
                "description": "A light tent.",
                "image": "tent.jpg",
                "sku": "T1",
                "weight": {"@type": "QuantitativeValue", "value": "1.2", "unitText": "kg"},
                "offers": {
                    "@type": "Offer",
                    "price": "199.00",
                    "priceCurrency": "EUR",
                    "availability": "https://schema.org/InStock",
                },
                "aggregateRating": {"ratingValue": 4.4, "reviewCount": 89},
            },
            [
                "A light tent.",
                "SKU: T1",
                "Weight: 1.2 kg",
                "Price: 199.00 EUR, In Stock",
                "Rating: 4.4 (89 ratings)",
            ],
        ),
        (
            {
                "@type": "HowTo",
                "name": "Tent",
                "totalTime": "PT1H30M",
                "step": [
                    {"@type": "HowToStep", "name": "Lay", "text": "Spread it."},
                    {"@type": "HowToStep", "text": "Peg it."},
                ],
            },
            ["Total time: 1 hour 30 minutes", "Lay: Spread it.", "Peg it."],
        ),
        (
            {
                "@graph": [
                    {
                        "@type": "MusicEvent",
                        "name": "Tent",
                        "startDate": "2026-05-01",
                        "location": {
                            "@type": "Place",
                            "name": "Hall",
                            "address": {
                                "@type": "PostalAddress",
                                "streetAddress": "Weg 1",
                                "postalCode": "3000",
                                "addressLocality": "Bern",
                            },
                        },
                    }
                ]
            },
            ["Start date: 2026-05-01", "Location: Hall, Weg 1, 3000 Bern"],
        ),
        (
            {
                "@type": "Bakery",
                "name": "Tent",
                "address": "Weg 2",
                "openingHoursSpecification": [
                    {
                        "@type": "OpeningHoursSpecification",
                        "dayOfWeek": ["https://schema.org/Monday", "Tuesday"],
                        "opens": "09:00",
                        "closes": "17:00",
                    }
                ],
            },
            ["Address: Weg 2", "Opening hours: Monday, Tuesday 09:00 to 17:00"],
        ),
        (
            {
                "@type": "Pharmacy",
                "name": "Tent",
                "openingHours": "Mo-Fr 09:00-17:00",
                "paymentAccepted": "Cash &amp; cards",
            },
            ["Opening hours: Mo-Fr 09:00-17:00", "Payment accepted: Cash & cards"],
        ),
        (
            {
                "@type": "Event",
                "name": "Tent",
                "startDate": "2027-06-18T17:00:00+01:00",
                "organizer": {"@type": "Organization", "name": "Club", "email": "a@b.example"},
            },
            ["Start date: 2027-06-18 17:00", "Organizer: Club (email a@b.example)"],
        ),
        (
            {
                "@type": "Recipe",
                "name": "Tent",
                "recipeIngredient": ["1 kg flour", "water"],
                "recipeInstructions": "Mix and bake.",
            },
            ["Ingredients: 1 kg flour, water", "Mix and bake."],
        ),
    ],
)
def test_facts_are_read_with_their_names(tmp_path: Path, declared: Any, facts: list[str]) -> None:
    assert said(tmp_path, declared) == [("Tent", fact) for fact in facts]


QUESTION = {
    "@type": "FAQPage",
    "mainEntity": [
        {
            "@type": "Question",
            "name": "Open on Sunday?",
            "acceptedAnswer": {
                "@type": "Answer",
                "text": "<p>No, <b>never</b>.</p><p style='display:none'>secret</p>"
                "<script>secret</script>",
            },
        }
    ],
}


def test_questions_are_sections_with_their_answers(tmp_path: Path) -> None:
    assert said(tmp_path, QUESTION) == [("Open on Sunday?", "No, never.")]


def test_what_the_page_shows_is_not_read_twice(tmp_path: Path) -> None:
    assert said(tmp_path, QUESTION, "Sundays: no, <b>never</b>.") == []


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 50_000,
        "[1, null]",
        '{"@type": "WebSite", "name": "secret"}',
        '{"@type": "Product", "name": {"a": 1}, "review": "secret"}',
        '{"@type": ["Product", 1], "offers": [[[]]], "@id": "secret"}',
        '{"@type": "FAQPage", "mainEntity": "secret"}',
        json.dumps({"@type": "HowTo", "step": [{"itemListElement": [[]]}]}),
    ],
)
def test_what_says_nothing_is_left_out(text: str) -> None:
    assert write_facts([text], "") == ""


def test_markup_in_facts_is_text() -> None:
    declared = {"@type": "Product", "name": "<img src=x onerror=alert(1)>Tent", "sku": "a&lt;b>"}
    html = write_facts([json.dumps(declared)], "")
    assert "<h2>Tent</h2>" in html
    assert "onerror" not in html
