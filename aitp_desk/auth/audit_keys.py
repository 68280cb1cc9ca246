"""The keys of the audit log, from the desk's master key."""

from __future__ import annotations

from aitp_desk.auth.keys import MasterKey
from aitp_desk.model.audit import AuditKeys


def audit_keys(master: MasterKey) -> AuditKeys:
    """Derive the keys that rows are linked with and that ids are hidden with."""
    return AuditKeys(master.derive("audit chain"), master.derive("audit names"))
