"""MIME as it is: nested parts, broken character sets, files, pictures, appointments."""

from __future__ import annotations

import pytest

from aitp_desk.transports.email.mail import Mail, MailKind, Refusal, read_mail
from tests.unit.transports.email.mail.corpus.builders import file, head, mail, multipart, part

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16
PDF = b"%PDF-1.7\n1 0 obj\n"
FIELDS = head("A question", is_reply=False)


def read(body: bytes) -> Mail:
    return read_mail(mail(FIELDS, body), "")


def test_nested_multiparts_have_one_text_and_all_files() -> None:
    body = multipart(
        "mixed",
        multipart(
            "related",
            multipart(
                "alternative",
                part("My lamp"),
                part("<p>My <b>lamp</b></p>", "text/html"),
                boundary="c",
            ),
            file("lamp.png", "image/png", PNG, "inline", Content_ID="<lamp@home>"),
            boundary="b",
        ),
        file("bill.pdf", "application/octet-stream", PDF),
        boundary="a",
    )
    found = read(body)
    assert found.text == "My lamp"
    picture, bill = found.attachments
    assert picture.name == "lamp.png"
    assert picture.data == PNG
    assert (bill.name, bill.media_type) == ("bill.pdf", "application/pdf")
    assert bill.data == PDF


@pytest.mark.parametrize(
    ("data", "claimed", "detected"),
    [
        (PDF, "image/png", "application/pdf"),
        (b"MZ\x90\0" + b"\0" * 60, "image/jpeg", "application/x-msdownload"),
        (b"<script>alert(1)</script>", "image/gif", "text/html"),
        (b"a;b\n1;2\n", "text/csv", "text/plain"),
    ],
)
def test_a_files_type_is_detected_and_not_claimed(data: bytes, claimed: str, detected: str) -> None:
    found = read(multipart("mixed", part("See"), file("lamp", claimed, data)))
    (attachment,) = found.attachments
    assert attachment.media_type == detected


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ('Content-Disposition: attachment; filename="../../etc/passwd"', "passwd"),
        ("Content-Disposition: attachment; filename*=utf-8''L%C3%A4mpchen.txt", "Lämpchen.txt"),
        (
            "Content-Disposition: attachment; filename*0*=utf-8''%E3%83%A9; filename*1=mp.txt",
            "ラmp.txt",
        ),
        ('Content-Type: text/csv; name="=?utf-8?q?L=C3=A4mpchen=2Ecsv?="', "Lämpchen.csv"),
        ("Content-Disposition: attachment", "attachment-1"),
        ("Content-Disposition: attachment; filename*=klingon''%ff", "ÿ"),
    ],
)
def test_a_files_name_is_read_in_every_form(fields: str, name: str) -> None:
    data = f"{fields}\r\n\r\nx".encode()
    (attachment,) = read(multipart("mixed", part("See"), data)).attachments
    assert attachment.name == name


@pytest.mark.parametrize(
    ("charset", "declared"),
    [
        ("utf-8", "utf-8"),
        ("utf-8", "iso-8859-1"),
        ("utf-8", "us-ascii"),
        ("utf-8", "x-unknown"),
        ("utf-8", '"UTF-8"'),
        ("cp1252", "iso-8859-1"),
        ("cp1252", "us-ascii"),
        ("cp1252", "utf-8"),
        ("cp1252", "none-such"),
        ("iso8859-15", "ISO-8859-15"),
        ("utf-16", "utf-16"),
        ("mac-roman", "macintosh"),
    ],
)
def test_western_text_survives_wrong_declarations(charset: str, declared: str) -> None:
    data = f"Content-Type: text/plain; charset={declared}\r\n\r\n".encode()
    assert read(data + "Grüße aus Köln, à bientôt".encode(charset)).text == (
        "Grüße aus Köln, à bientôt"
    )


@pytest.mark.parametrize(
    ("text", "charset", "declared"),
    [
        ("注文をランプ①に変更", "cp932", "Shift_JIS"),
        ("注文をランプに変更", "iso2022_jp", "ISO-2022-JP"),
        ("注文をランプに変更", "euc_jp", "EUC-JP"),
        ("能把订单改成两盏灯吗？镕", "gb18030", "gb2312"),
        ("請更改訂單", "big5", "Big5"),
        ("주문을 바꿀 수 있나요", "cp949", "ks_c_5601-1987"),
        ("Здравствуйте, лампа", "koi8-r", "koi8-r"),
        ("Здравствуйте, лампа", "cp1251", "windows-1251"),
        ("Γειά σας", "iso8859-7", "iso-8859-7"),
        ("שלום", "iso8859-8", "iso-8859-8-i"),
        ("สวัสดี", "cp874", "windows-874"),
        ("Dzień dobry, żarówka", "iso8859-2", "iso-8859-2"),
        ("İyi günler", "cp1254", "iso-8859-9"),
    ],
)
def test_text_of_other_scripts_is_decoded(text: str, charset: str, declared: str) -> None:
    data = f"Content-Type: text/plain; charset={declared}\r\n\r\n".encode()
    assert read(data + text.encode(charset)).text == text


def test_one_broken_byte_costs_one_character() -> None:
    data = b"Content-Type: text/plain; charset=utf-8\r\n\r\n" + "Grüße, Köln, Zürich".encode()
    assert read(data + b" \xff!").text == "Grüße, Köln, Zürich \ufffd!"


def test_a_mail_without_mime_is_text() -> None:
    assert read(b"\r\nWhere is my lamp?\r\n").text == "Where is my lamp?"


def test_a_multipart_without_its_boundary_is_read_as_far_as_it_goes() -> None:
    body = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nWhere is my lamp?\r\n"
    assert read(body).text == "Where is my lamp?"


def test_an_apple_mail_with_a_picture_between_texts_keeps_both_texts() -> None:
    picture = file("lamp.png", "image/png", PNG, "inline")
    body = multipart("mixed", part("Broken:\n"), picture, part("Please replace it."))
    found = read(body)
    assert found.text == "Broken:\n\nPlease replace it."
    assert [attachment.name for attachment in found.attachments] == ["lamp.png"]


def test_html_with_a_footer_of_a_list_as_text_keeps_its_words() -> None:
    footer = part("_______________\nlamps mailing list, unsubscribe: https://lists.example")
    found = read(multipart("mixed", part("<p>My lamp</p>", "text/html"), footer))
    assert found.text == "My lamp"
    assert "unsubscribe" in found.trimmed[0].text


def test_html_in_pieces_around_a_file_is_an_alternative_to_the_text() -> None:
    pieces = multipart(
        "mixed",
        part("<p>My lamp</p>", "text/html"),
        file("bill.pdf", "application/pdf", PDF),
        part("<p>is broken</p>", "text/html"),
        boundary="b",
    )
    found = read(multipart("alternative", part("My lamp is broken"), pieces))
    assert found.text == "My lamp is broken"
    assert [attachment.name for attachment in found.attachments] == ["bill.pdf"]


def test_an_attached_text_is_a_file_and_no_words() -> None:
    found = read(multipart("mixed", part("See the log."), file("a.log", "text/plain", b"Error")))
    assert found.text == "See the log."
    assert [(a.name, a.data) for a in found.attachments] == [("a.log", b"Error")]


def test_an_attached_mail_is_a_file() -> None:
    inner = b"From: leo@home.example\r\nSubject: Old\r\n\r\nOld words\r\n"
    body = multipart("mixed", part("See"), b"Content-Type: message/rfc822\r\n\r\n" + inner)
    found = read(body)
    assert found.text == "See"
    (attachment,) = found.attachments
    assert (attachment.name, attachment.media_type) == ("mail-1.eml", "message/rfc822")
    assert attachment.data.startswith(b"From: leo@home.example")


@pytest.mark.parametrize("kind", ["application/ms-tnef", "application/octet-stream"])
def test_outlooks_own_format_is_refused_with_a_reason(kind: str) -> None:
    data = b"\x78\x9f\x3e\x22" + b"\0" * 20
    found = read(multipart("mixed", part("My lamp"), file("winmail.dat", kind, data)))
    assert found.text == "My lamp"
    assert found.attachments == ()
    (refused,) = found.refused
    assert refused.name == "winmail.dat"
    assert refused.reason is Refusal.WINMAIL


@pytest.mark.parametrize(
    "body",
    [
        multipart(
            "encrypted",
            b"Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1",
            b"Content-Type: application/octet-stream\r\n\r\n-----BEGIN PGP MESSAGE-----",
            protocol="application/pgp-encrypted",
        ),
        (
            b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\r\n"
            b"Content-Transfer-Encoding: base64\r\n\r\nMIAG\r\n"
        ),
    ],
)
def test_an_encrypted_mail_is_refused_with_a_reason(body: bytes) -> None:
    found = read(body)
    assert found.text == ""
    assert [refused.reason for refused in found.refused] == [Refusal.ENCRYPTED]


def test_a_signature_of_the_mail_is_no_attachment() -> None:
    signature = file("smime.p7s", "application/pkcs7-signature", b"\x30\x80")
    found = read(multipart("signed", part("My lamp"), signature, micalg="sha-256"))
    assert (found.text, found.attachments) == ("My lamp", ())


INVITE = (
    "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nDTSTART:20261103T101200Z\n"
    "SUMMARY:METHOD:REPLY\nEND:VEVENT\nEND:VCALENDAR\n"
)


def test_an_appointment_is_kept_as_a_file() -> None:
    found = read(multipart("alternative", part("Shall we?"), part(INVITE, "text/calendar")))
    assert (found.kind, found.text) == (MailKind.PERSON, "Shall we?")
    assert [attachment.name for attachment in found.attachments] == ["invite.ics"]


@pytest.mark.parametrize("method", ["METHOD:REPLY", "Method: reply", "METHOD;X=y:REP\n LY"])
def test_an_answer_to_an_appointment_is_automatic(method: str) -> None:
    calendar = INVITE.replace("METHOD:REQUEST", method)
    found = read(multipart("alternative", part("Yes."), part(calendar, "text/calendar")))
    assert found.kind is MailKind.AUTOMATIC


@pytest.mark.parametrize(
    "stub",
    [
        "This email requires an HTML viewer.",
        "Your mail program does not support HTML.",
        "Diese Nachricht im Browser anzeigen: https://news.example/1",
        "Ce message est au format HTML.",
        "このメールはHTML形式です。",
    ],
)
def test_html_counts_where_the_plain_text_only_says_so(stub: str) -> None:
    html = part("<p>Do you deliver to Malta?</p>", "text/html")
    assert read(multipart("alternative", part(stub), html)).text == "Do you deliver to Malta?"


def test_html_alone_becomes_text() -> None:
    html = (
        "<html><head><title>x</title><style>p{}</style></head><body><h1>Order</h1><p>I want<br>two "
        "&lt;lamps&gt;&nbsp;&amp; this <a href='https://shop.example/a?b=1&amp;c=2'>shade</a>.</p>"
        "<ul><li>green<li>red</ul><table><tr><td>Lamp</td><td>2</td></tr></table>"
        '<img alt="😀" src="x"><img alt="Logo of a company" src="y"></body></html>'
    )
    assert read(part(html, "text/html")).text == (
        "Order\n\nI want\ntwo <lamps> & this shade <https://shop.example/a?b=1&c=2>.\n\n- green\n"
        "- red\n\nLamp  2\n😀"
    )


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a<p>b", "a\n\nb"),
        ("<div>a</div></div></div>b", "a\nb"),
        ("<b>a<div>b</b>c</div>d", "a\nbc\nd"),
        ("a<!-- b -->c<!-- d", "ac"),
        ("a<script>b</script >c<style>d", "ac"),
        ("a <x 1 < 2", "a"),
        ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<table><tr><td><div>a</td></div><td>b</table>c", "a\nb\nc"),
        ("<a href='javascript:alert(1)'>a</a>", "a"),
        ("<ol start=2><li>a<li><p>b</p></ol>", "2. a\n3. b"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n- b\n2. c"),
        ("<p style='display:none'>a<p>b</p>", "b"),
        ("&#99999999999999999999;&#x110000;&bogus;", "\ufffd\ufffd&bogus;"),
    ],
)
def test_broken_html_is_read_as_browsers_show_it(html: str, text: str) -> None:
    assert read(part(html, "text/html")).text == text


def test_what_html_hides_is_not_read() -> None:
    html = (
        "<p>My lamp</p><div style='DISPLAY: none'>a</div><span style='font-size:0'>b</span>"
        "<p style='visibility:hidden'>c</p><div style='max-height:0px;overflow:hidden'>d</div>"
        "<p style='mso-hide:all'>e</p><textarea>f</textarea>"
    )
    assert read(part(html, "text/html")).text == "My lamp"


def test_a_text_that_is_too_long_is_cut_and_says_so() -> None:
    found = read(part("lamp " * 200_000))
    assert found.is_cut
    assert len(found.text) <= 200_000
    assert not read(part("lamp")).is_cut


@pytest.mark.parametrize("kind", ["multipart/mixed", 'multipart/mixed; boundary="none"'])
def test_multipart_without_parts_is_read_as_text(kind: str) -> None:
    found = read(f"Content-Type: {kind}\r\n\r\nWhere is my lamp?\r\n".encode())
    assert (found.text, found.attachments) == ("Where is my lamp?", ())


def test_multipart_without_parts_keeps_a_file_a_file() -> None:
    found = read(b"Content-Type: multipart/mixed\r\n\r\n" + PDF)
    assert found.text == ""
    assert [file.media_type for file in found.attachments] == ["application/pdf"]


def test_signature_alone_loses_only_its_line() -> None:
    found = read(b"Content-Type: text/plain\r\n\r\n-- \r\nAnna\r\nBremen\r\n")
    assert found.text == "Anna\nBremen"
    assert read(b"Content-Type: text/plain\r\n\r\n--\r\n").text == "--"
