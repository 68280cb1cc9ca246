"""AITP-04, operations: healthchecks of agents on a thread."""

from aitp_operations.capability import Operations

__all__ = ["Operations"]
