"""Mails in the shapes of many programs and languages: what the person wrote, and nothing else."""

from __future__ import annotations

import pytest

from aitp_desk.transports.email.mail import MailKind, read_mail
from tests.unit.transports.email.mail.corpus.builders import Sample
from tests.unit.transports.email.mail.corpus.clients import EVERYWHERE, SOMEWHERE, answers
from tests.unit.transports.email.mail.corpus.languages import LANGUAGES
from tests.unit.transports.email.mail.corpus.letters import letters

SAMPLES = [*answers(), *letters()]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_what_the_person_wrote_is_left_and_the_rest_can_be_shown(sample: Sample) -> None:
    mail = read_mail(sample.data, "")
    assert mail.text == sample.text
    assert mail.kind is MailKind.PERSON
    shown = "\n".join(piece.text for piece in mail.trimmed)
    assert sample.shows in shown
    assert bool(mail.trimmed) == bool(sample.shows)


def test_the_mails_are_of_many_programs_and_languages() -> None:
    assert len({sample.data for sample in SAMPLES}) == len(SAMPLES) >= 150
    assert len(LANGUAGES) >= 8
    assert len(EVERYWHERE) + len(SOMEWHERE) >= 12
