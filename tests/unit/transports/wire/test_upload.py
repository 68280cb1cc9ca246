"""Uploads: what is sent is what a server's own parser reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.protocols.base.multipart import decode_form
from aitp_desk.transports.messages import OutgoingFile
from aitp_desk.transports.wire.upload import encode_upload

texts = st.text(max_size=40)


@given(texts, texts, texts, st.binary(max_size=200))
def test_a_server_reads_what_was_sent(value: str, name: str, kind: str, data: bytes) -> None:
    file = OutgoingFile(name=name, content_type=kind, data=data)
    body, headers = encode_upload({"caption": value}, "document", file)
    form = decode_form(headers["Content-Type"], body)
    assert form["caption"].data == value.encode()
    assert form["document"].data == data
    assert form["document"].filename is not None
