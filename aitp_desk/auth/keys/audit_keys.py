"""The keys of the audit log, derived from the first data key."""

from __future__ import annotations

from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.access.audit import AuditKeys


def derive_audit_keys(keys: DataKeys) -> AuditKeys:
    """Derive the keys that link rows and that hide ids."""
    return AuditKeys(keys.derive("audit chain"), keys.derive("audit names"))
