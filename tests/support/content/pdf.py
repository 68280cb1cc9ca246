"""PDF files for tests, written by hand: a page is a list of lines."""

from __future__ import annotations

import io
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter


def make_pdf(*pages: Sequence[str], title: str = "") -> bytes:
    """A PDF with these pages and, if it is not empty, this title."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        shown = b"".join(b"(" + _escaped(line) + b") Tj T*\n" for line in lines)
        stream = b"BT /F1 12 Tf 14 TL 50 800 Td\n" + shown + b"ET"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    info = b""
    if title:
        objects.append(b"<< /Title (" + _escaped(title) + b") >>")
        info = b" /Info %d 0 R" % len(objects)
    return _file(objects, info)


def encrypt(pdf: bytes, password: str) -> bytes:
    """The file, to be opened with a password only."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    writer.encrypt(password, algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _escaped(text: str) -> bytes:
    for sign in "\\()":
        text = text.replace(sign, f"\\{sign}")
    return text.encode("cp1252")


def _file(objects: Sequence[bytes], info: bytes) -> bytes:
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n"
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + trailer
        % (
            size,
            info,
            len(out),
        )
    )
