"""Mails that are written to take long: one unit, repeated."""

from __future__ import annotations

from collections.abc import Iterator

TEXTS = (
    *("On ", ">", "-", "_", "*", " ", "\n", ": ", "写道：", "@", "a@", "<", "1", "1:1", "On On\n"),
    *("On 3 Nov 2026 at 10:12, A <a@b.c> wrote:\n", "A wrote:\n> x\n", "A wrote:\nx\n", "> a\nb\n"),
    *("From: a@b.c\n", "From: a\nTo: b\nCc: c\n", "Subject: a\nFrom: b\nDate: c\n\n", "x:\n"),
    *("-----Original Message-----x\n", "---------- Forwarded message\n", "-- \nx\n", "--\n"),
    *(
        "Sent from my iPhone\n",
        "Sent from my iPhone\n\nx\n",
        "this e-mail is confidential ",
        "x\n\n",
    ),
    *(
        "____________________\n",
        "> " + "x" * 70 + "\nxx\n",
        "##- reply above this line x",
        ">>> x\n",
    ),
)
SOURCES = (
    *("<", "</", "<b>", "<div>", "<div>x</p>", "<td>", "<table>", "<p>", "</p>", "<br>", "<li>x"),
    *(
        "<blockquote>x",
        "<!--",
        "<!",
        "<script>",
        "<a ",
        '<a x="',
        "<a x='",
        "<a =",
        "= ",
        "&",
        "&#9",
    ),
    *(
        "&amp;",
        "&#x",
        "<a href='https://a.example'>b",
        "<pre>\n",
        "<div class=yahoo_quoted>x",
        " \n",
    ),
    *("<div style='font-size:0", "<hr id=zwchr>", "<img alt='", "<svg>", "</div>", "<td></div>"),
)

HEAD = b"From: a@b.c\nSubject: Re: x\nIn-Reply-To: <a@b>\n"
MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"
STRUCTURES = {
    "lines": (HEAD + b"\n", b"x\n"),
    "parts": (HEAD + MIXED, b"--b\n\nx\n"),
    "near boundaries": (HEAD + MIXED + b"--b\n\n", b"--bx\n"),
    "headers": (b"", b"A: b\n"),
    "continued headers": (b"A: b\n", b" c\n"),
    "no headers": (b"", b" c\n"),
    "base64": (HEAD + b"Content-Transfer-Encoding: base64\n\n", b"=QUJD\n"),
    "quoted-printable": (HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n", b"=\n=4"),
    "uuencode": (HEAD + b"Content-Transfer-Encoding: x-uuencode\n\nbegin 666 a\n", b"#86)C\n"),
    "parameters": (HEAD + MIXED + b"--b\n", b'Content-Type: a/b; a="b' + b";" * 900 + b"\n"),
    "report": (
        (
            b"Content-Type: multipart/report; boundary=b\n\n--b\n"
            b"Content-Type: message/delivery-status\n\n"
        ),
        b"Final-Recipient: a\nAction: failed\n\n",
    ),
    "formatting elements": (
        HEAD + b"Content-Type: text/html\n\n<p>" + b"".join(b"<b a=%d>" % n for n in range(250)),
        b"</p><p>x",
    ),
}

_TYPE = b"Content-Type: text/%s; charset=utf-8%s\n\n"
_ALTERNATIVE = HEAD + b"Content-Type: multipart/alternative; boundary=b\n\n--b\n"


def _list_mails() -> Iterator[tuple[str, tuple[bytes, bytes, bytes, bytes]]]:
    """Yield names, and what comes first, its unit, what comes then, its unit."""
    for text in TEXTS:
        yield f"text {text[:30]!r}", (HEAD + _TYPE % (b"plain", b""), text.encode(), b"", b"")
        flowed = HEAD + _TYPE % (b"plain", b"; format=flowed")
        yield f"flowed {text[:30]!r}", (flowed, text.encode(), b"", b"")
    for html in SOURCES:
        yield f"html {html[:30]!r}", (HEAD + _TYPE % (b"html", b""), html.encode(), b"", b"")
    for html in ("&#9", "<blockquote>x", "<p>____________________", "<li>x"):
        for text in ("____________________\n", "Sent from my iPhone\n", "A wrote:\nx\n"):
            first, then = (
                _ALTERNATIVE + _TYPE % (b"plain", b""),
                b"\n--b\n" + _TYPE % (b"html", b""),
            )
            yield f"both {text[:12]!r} {html!r}", (first, text.encode(), then, html.encode())
    for name, (begin, unit) in STRUCTURES.items():
        yield f"structure: {name}", (begin, unit, b"", b"")


MAILS = dict(_list_mails())


def make_adversarial(shape: str, size: int) -> bytes:
    """Return the mail of a shape, with about so many bytes."""
    first, unit, then, other = MAILS[shape]
    room = size // 2 if other else size
    mail = first + unit * (room // len(unit)) + then
    return mail + other * (room // len(other)) if other else mail
