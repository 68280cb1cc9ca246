"""AITP-04, operations: how an agent is, asked and told on a thread."""

from aitp_operations.capability import Operations

__all__ = ["Operations"]
