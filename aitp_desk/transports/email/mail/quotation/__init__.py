"""Separates what a person wrote from what their program quotes or adds."""

from aitp_desk.transports.email.mail.quotation.division import Division, divide

__all__ = ["Division", "divide"]
