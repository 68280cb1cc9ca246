"""Forms with files, well made and hostile, without a server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.errors import DeskError, InvalidRequest, RequestTooLarge, UnsupportedMedia
from aitp_desk.protocols.base.multipart import MAX_FIELD_BYTES, MAX_PARTS, FormPart, decode_form

TYPE = "multipart/form-data; boundary=xyz"


def part(head: str, data: bytes = b"data") -> bytes:
    return b"--xyz\r\n" + head.encode() + b"\r\n\r\n" + data + b"\r\n"


def named(name: str, data: bytes = b"data") -> bytes:
    return part(f'Content-Disposition: form-data; name="{name}"', data)


FILE = part('Content-Disposition: form-data; name="file"; filename="a.txt"', b"\r\n--xy\r\n")
END = b"--xyz--\r\n"


def test_a_form_is_read_part_by_part() -> None:
    assert decode_form(TYPE, named("purpose", b"assistants") + FILE + END) == {
        "purpose": FormPart(None, b"assistants"),
        "file": FormPart("a.txt", b"\r\n--xy\r\n"),
    }


@pytest.mark.parametrize(
    ("sent", "filename"),
    [
        ('filename="a.txt"', "a.txt"),
        ("filename=a.txt", "a.txt"),
        ('filename=""', ""),
        ('filename="Über 漢字.txt"', "Über 漢字.txt"),
        ('filename="a%22b%0D%0Ac.txt"', 'a"b\r\nc.txt'),
        ('filename="../../etc/passwd"', "../../etc/passwd"),
        ("filename*=UTF-8''%2e%2e%2fpasswd; filename=\"a.txt\"", "a.txt"),
        ("filename*=UTF-8''a.txt", None),
    ],
)
def test_a_files_name_comes_as_it_was_sent(sent: str, filename: str | None) -> None:
    body = part(f'Content-Disposition: form-data; name="file"; {sent}') + END
    assert decode_form(TYPE, body)["file"].filename == filename


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        (None, UnsupportedMedia),
        ("application/json", UnsupportedMedia),
        ("multipart/form-data; boundary=漢", UnsupportedMedia),
        ("multipart/form-data; boundary=\udcff", UnsupportedMedia),
        ("multipart/mixed; boundary=xyz", UnsupportedMedia),
        ("multipart/form-data", InvalidRequest),
        ("multipart/form-data; boundary=", InvalidRequest),
        ('multipart/form-data; boundary=" "', InvalidRequest),
        ("multipart/form-data; boundary=" + "x" * 71, InvalidRequest),
        ("multipart/form-data; boundary=other", InvalidRequest),
    ],
)
def test_what_is_no_form_is_refused(content_type: str | None, kind: type[DeskError]) -> None:
    with pytest.raises(kind) as refused:
        decode_form(content_type, FILE + END)
    assert type(refused.value) is kind


def test_a_form_that_is_ill_made_or_past_a_bound_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[bytes, type[DeskError]]] = [
        (b"", InvalidRequest),
        (b"no form at all", InvalidRequest),
        (FILE, InvalidRequest),
        (FILE + b"--xyz", InvalidRequest),
        (part("X: y") + END, InvalidRequest),
        (part("Content-Disposition: form-data") + END, InvalidRequest),
        (part('Content-Disposition: form-data; name=""') + END, InvalidRequest),
        (part('Content-Disposition: attachment; name="file"') + END, InvalidRequest),
        (named("a") + named("a") + END, InvalidRequest),
        (
            part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data')
            + END,
            InvalidRequest,
        ),
        (
            part(
                'Content-Disposition: form-data; name="file"\r\n'
                "Content-Type: Multipart/mixed; boundary=abc",
                b"--abc\r\n\r\nx\r\n--abc--\r\n",
            )
            + END,
            InvalidRequest,
        ),
        (
            part(
                'Content-Disposition: form-data; name="file"; filename="a"\r\n'
                "Content-Transfer-Encoding: base64"
            )
            + END,
            InvalidRequest,
        ),
        (b"--xyz\r\n" + b"X: y\r\n" * 9 + b"\r\n\r\n" + END, InvalidRequest),
        (part("Content-Disposition: form-data; name=" + "x" * 5000) + END, InvalidRequest),
        (b"".join(named(f"p{n}") for n in range(MAX_PARTS + 1)) + END, RequestTooLarge),
        (named("a", b"x" * (MAX_FIELD_BYTES + 1)) + END, RequestTooLarge),
    ]
    for body, kind in cases:
        with subtests.test(body=body, kind=kind):
            with pytest.raises(kind) as refused:
                decode_form(TYPE, body)
            assert type(refused.value) is kind


def test_a_field_is_text_and_no_file() -> None:
    form = decode_form(TYPE, named("a", b"\xff") + FILE + END)
    for name in ("a", "file"):
        with pytest.raises(InvalidRequest) as refused:
            form[name].text(name)
        assert refused.value.param == name


@given(st.text(max_size=60))
def test_any_content_type_is_read_or_refused(parameters: str) -> None:
    for content_type in (parameters, f"multipart/form-data;{parameters}"):
        with pytest.raises((InvalidRequest, UnsupportedMedia)):
            decode_form(content_type, b"")


@given(st.binary(max_size=300))
def test_a_files_bytes_come_through_whatever_they_are(data: bytes) -> None:
    head = 'Content-Disposition: form-data; name="file"; filename="a"'
    assert decode_form(TYPE, part(head, data) + END)["file"].data == data


HEAD = b'Content-Disposition: form-data; name="a"'
PIECES = st.sampled_from(
    [
        HEAD,
        b'; filename="b"',
        b"--xyz",
        b"--xyz--",
        b"--",
        b"\r\n",
        b"\r",
        b"\n",
        b" ",
        b":",
        b"\xff",
    ]
)


@given(st.lists(PIECES, max_size=30))
def test_any_body_is_read_or_refused(pieces: list[bytes]) -> None:
    try:
        form = decode_form(TYPE, b"".join(pieces))
    except InvalidRequest:
        return
    assert all(isinstance(found, FormPart) for found in form.values())
