"""Refusals, in the form of each door."""

from __future__ import annotations

from typing import Literal

import msgspec

from aitp_desk.model.money import Money
from aitp_desk.protocols.openapi.shapes.calls import CallRecovery, HowToPay


class Problem(msgspec.Struct):
    """Why a call was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    param: str | None = None
    retry_after: int | None = None
    recovery: CallRecovery | None = None
    price: Money | None = None
    payment: HowToPay | None = None


class ErrorDetail(msgspec.Struct):
    """What is wrong, in words and by its kind."""

    message: str
    type: str
    param: str | None
    code: str


class Error(msgspec.Struct):
    """A refusal in the OpenAI API's form."""

    error: ErrorDetail


class AHPError(msgspec.Struct):
    """A refusal in AHP's form (AHP 0.1, section 10)."""

    status: Literal["error"]
    code: str
    message: str


class OAuthError(msgspec.Struct):
    """A refusal in OAuth's form (RFC 6749, section 5.2)."""

    error: str
    error_description: str


class ConsoleErrorDetail(msgspec.Struct):
    """What is wrong, in words and by its kind."""

    code: str
    message: str
    param: str | None


class ConsoleError(msgspec.Struct):
    """A refusal of the operators' pages."""

    error: ConsoleErrorDetail
