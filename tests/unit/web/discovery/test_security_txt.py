"""The desk's own security.txt, line by line (RFC 9116)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from aitp_desk.config import Contact, Site
from aitp_desk.web.discovery.security_txt import (
    MAX_BYTES,
    VALID_DAYS,
    read_own_file,
    write_security_txt,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
SITE = Site(
    url="https://isle.example",
    language="fr",
    languages=("en", "de"),
    contact=Contact(email="hello@isle.example", url="/contact"),
)


def test_it_names_contacts_expiry_languages_its_address_and_the_policy() -> None:
    assert write_security_txt(SITE, "/SECURITY", NOON).splitlines() == [
        "Contact: mailto:hello@isle.example",
        "Contact: https://isle.example/contact",
        "Expires: 2027-02-28T00:00:00Z",
        "Preferred-Languages: fr, en, de",
        "Canonical: https://isle.example/.well-known/security.txt",
        "Policy: https://isle.example/SECURITY",
    ]


@pytest.mark.parametrize("days", [0, 1, 89, 400])
def test_it_expires_in_the_future_whenever_it_is_asked_for(days: int) -> None:
    now = NOON + days * 86_400
    (line,) = (one for one in write_security_txt(SITE, "", now).splitlines() if "Expires" in one)
    left = datetime.fromisoformat(line.removeprefix("Expires: ")).timestamp() - now
    assert 0 < (VALID_DAYS - 1) * 86_400 <= left < 365 * 86_400


def test_an_address_that_is_not_encrypted_is_left_out() -> None:
    local = replace(SITE, url="http://127.0.0.1:8080")
    told = write_security_txt(local, "/SECURITY", NOON)
    assert "http:" not in told
    assert told.startswith("Contact: mailto:hello@isle.example\n")
    only_page = replace(local, contact=Contact(url="/contact"))
    assert write_security_txt(only_page, "", NOON) == ""
    assert write_security_txt(replace(SITE, contact=Contact()), "", NOON) == ""


def test_no_setting_writes_a_line_of_its_own() -> None:
    mail = "a@b.example\nPolicy: https://evil.example"
    told = write_security_txt(replace(SITE, contact=Contact(email=mail)), "", NOON)
    assert [line.partition(":")[0] for line in told.splitlines()] == [
        *("Contact", "Expires", "Preferred-Languages", "Canonical"),
    ]


def test_the_owner_s_file_is_read_if_it_is_a_regular_one_of_usual_size(tmp_path: Path) -> None:
    assert read_own_file(tmp_path) == b""
    folder = tmp_path / ".well-known"
    folder.mkdir()
    file = folder / "security.txt"
    file.write_bytes(b"Contact: tel:+1-201-555-0123\n")
    assert read_own_file(tmp_path) == b"Contact: tel:+1-201-555-0123\n"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    assert read_own_file(tmp_path) == b""
    file.unlink()
    outside = tmp_path / "elsewhere.txt"
    outside.write_bytes(b"A secret.")
    file.symlink_to(outside)
    assert read_own_file(tmp_path) == b""
