"""`docs/protocols/errors.md` tells the truth about the errors."""

import re
from typing import get_args, get_type_hints

import pytest

from aitp_desk.model.error_kind import ErrorKind, FailureCode
from aitp_desk.protocols.aitp.responses.objects import ResponseFailure
from tests.docs.error_catalogue import with_catalogue
from tests.docs.tables.errors import BEGIN, END, PAGE, promised_codes
from tests.support.protocols.error_codes import SentErrors


def test_the_catalogue_is_the_one_in_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1
    assert page == with_catalogue(page), "run python -m tests.docs.error_catalogue"


def test_every_code_has_a_meaning_a_cause_and_a_cure() -> None:
    for code in (*ErrorKind, *FailureCode):
        assert re.fullmatch(r"[a-z][^|\n.]+", code.meaning), code
        for sentence in (code.cause, code.cure):
            assert re.fullmatch(r"[A-Z`][^|\n]+\.", sentence), code
        assert code.value in promised_codes()


def test_the_codes_of_failed_responses_are_catalogued() -> None:
    codes = get_args(get_type_hints(ResponseFailure)["code"])
    assert {code.value for code in FailureCode} >= set(codes) > set()


@pytest.mark.parametrize(
    "sent",
    [
        b'{"error":{"message":"No.","type":"server_error","param":null,"code":"new_kind"}}',
        b'{"status":"error","code":"invalid_request","detail":"new_kind","message":"No."}',
        b'{"type":"about:blank","title":"No","status":409,"detail":"No.","code":"new_kind"}',
        b'{"error":"new_kind","error_description":"No."}',
        b'{"status":"failed","error":{"kind":"new_kind","message":"No."}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"","data":{"code":"new_kind"}}}',
        b'{"error":{"code":400,"status":"A","message":"","details":[{"reason":"new_kind"}]}}',
        b'data: {"id":"run_1","last_error":{"code":"new_kind","message":"No."}}\n\n',
        b'{"result":{"isError":true,"structuredContent":{"code":"new_kind","message":"No."}}}',
    ],
)
def test_a_code_that_the_catalogue_lacks_is_found_in_every_form(sent: bytes) -> None:
    errors = SentErrors()
    errors.look(sent, refused=b'"status"' in sent)
    assert errors.unknown() == {"new_kind"}
    assert errors.unknown() == set()
