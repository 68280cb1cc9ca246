"""What a file is by its bytes, and what is left of its name."""

from __future__ import annotations

import unicodedata
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aitp_desk.config.sections.files import FileType
from aitp_desk.model.conversation.file import KNOWN_TYPES, NAME_BYTES, PART_BYTES, clean_name, sniff

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


def test_the_bytes_say_what_a_file_is(subtests: pytest.Subtests) -> None:
    cases: list[tuple[bytes, str]] = [
        (b"Plain words.\r\n\tAnd more.", "text/plain"),
        ("Ünïcödé — 漢字 🙂".encode(), "text/plain"),
        ("\ufeffWith a mark.".encode(), "text/plain"),
        (b'{"a": 1}', "text/plain"),
        (b"a < b and <3", "text/plain"),
        (b"#!/bin/sh\nrm -r /", "text/plain"),
        (b"<!DOCTYPE html><p>", "text/html"),
        (b" \n<script>alert(1)</script>", "text/html"),
        (b"<svg onload=alert(1)>", "text/html"),
        (b'<?xml version="1.0"?><svg/>', "text/html"),
        (b"<!-- x --><html>", "text/html"),
        ("\ufeff<html>".encode(), "text/html"),
        (b"</p><b>x</b>", "text/html"),
        (b" " * 5000 + b"<html>", "text/html"),
        (b"<" + b"a" * 5000, "text/plain"),
        (("x" + "é" * PART_BYTES).encode(), "text/plain"),
        (b"x" * PART_BYTES + b"\xc3", "application/octet-stream"),
        (b"%PDF-1.7\n%\xe2", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a<script>", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "application/octet-stream"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"MZ\x90\0", "application/octet-stream"),
        (b"\x7fELF", "application/octet-stream"),
        (b"words\0words", "application/octet-stream"),
        (b"words\x07", "application/octet-stream"),
        (b"Latin-1: \xfc", "application/octet-stream"),
        ("UTF-16".encode("utf-16"), "application/octet-stream"),
        (b"cut \xf0\x9f\x99", "application/octet-stream"),
    ]
    for data, kind in cases:
        with subtests.test(data=data, kind=kind):
            assert sniff(data) == kind


@given(st.binary(max_size=60))
def test_every_file_is_of_a_type_that_a_setting_may_name(data: bytes) -> None:
    assert sniff(data) in KNOWN_TYPES
    assert set(KNOWN_TYPES) == set(get_args(FileType))


def test_of_a_name_only_a_name_is_kept(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("notes.txt", "notes.txt"),
        ("Über uns — 漢字 🙂.md", "Über uns — 漢字 🙂.md"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\aya\\notes.txt", "notes.txt"),
        ("/", "file"),
        ("..", "file"),
        ("", "file"),
        (".htaccess", "htaccess"),
        ("notes.txt. . ", "notes.txt"),
        ("a\r\nSet-Cookie: b=c.txt", "a Set-Cookie_ b=c.txt"),
        ("evil\u202efdp.exe", "evilfdp.exe"),
        ("zero\u200bwidth.txt", "zerowidth.txt"),
        ("nul\x00.txt", "_nul.txt"),
        ("CON", "_CON"),
        ("com1.tar.gz", "_com1.tar.gz"),
        ("LPT³.txt", "_LPT³.txt"),
        ("console.txt", "console.txt"),
        ('a<b>:"c|d?*.txt', "a_b___c_d__.txt"),
        ("u\u0308.txt", "ü.txt"),
        ("%2e%2e%2fpasswd", "%2e%2e%2fpasswd"),
        ("x" * 300 + ".markdown", "x" * 191 + ".markdown"),
        ("漢" * 100, "漢" * 66),
    ]
    for given_name, kept in cases:
        with subtests.test(given_name=given_name, kept=kept):
            assert clean_name(given_name) == kept


@given(st.text(max_size=400))
@example("nul.\u202e")
@example("a" * 250 + "." + "b" * 16)
@example("con ." + "x")
@example("\u0301./.")
def test_a_kept_name_is_safe_whatever_was_given(given_name: str) -> None:
    name = clean_name(given_name)
    assert name
    assert len(name.encode()) <= NAME_BYTES
    assert not set(name) & set('/\\<>:"|?*' + BIDI)
    assert not {unicodedata.category(c) for c in name} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not name.startswith((".", " "))
    assert not name.endswith((".", " "))
    assert name.partition(".")[0].strip().lower() not in {
        "con",
        "prn",
        "aux",
        "nul",
        "com1",
        "lpt9",
    }
    assert clean_name(name) == name
