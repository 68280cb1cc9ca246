"""Mails in the shapes of many programs and languages: what the person wrote, and nothing else."""

from __future__ import annotations

import pytest

from aitp_desk.transports.email.mail import MailKind, read_mail
from tests.unit.transports.email.mail.corpus.builders import Sample, head, mail, part
from tests.unit.transports.email.mail.corpus.clients import EVERYWHERE, SOMEWHERE, answers
from tests.unit.transports.email.mail.corpus.languages import LANGUAGES
from tests.unit.transports.email.mail.corpus.letters import letters
from tests.unit.transports.email.mail.corpus.newcomers import newcomers
from tests.unit.transports.email.mail.corpus.strangers import LEFT, strangers

SAMPLES = [*answers(), *letters(), *strangers(), *newcomers()]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_what_the_person_wrote_is_left_and_the_rest_can_be_shown(sample: Sample) -> None:
    found = read_mail(sample.data, "")
    assert found.text == sample.text
    assert found.kind is MailKind.PERSON
    shown = "\n".join(piece.text for piece in found.trimmed)
    assert sample.shows in shown
    assert bool(found.trimmed) == bool(sample.shows)


@pytest.mark.parametrize("name", LEFT)
def test_what_no_rule_knows_is_left_in_and_no_word_is_lost(name: str) -> None:
    left, below = LEFT[name]
    found = read_mail(mail(head("Re: Delivery"), part(left + below)), "")
    assert found.text == left
    assert "".join(piece.text for piece in found.trimmed) == below.strip("\n")


def test_the_mails_are_of_many_programs_and_languages() -> None:
    assert len({sample.data for sample in SAMPLES}) == len(SAMPLES) >= 150
    assert len(LANGUAGES) >= 8
    assert len(EVERYWHERE) + len(SOMEWHERE) >= 12
