"""Checks what the desk's database tells: its credentials, and the audit log."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import known_data_keys
from aitp_desk.auth.keys.master_key import KeyFileError
from aitp_desk.cli.commands.site.examination.findings import Findings
from aitp_desk.config import Config
from aitp_desk.model.access.audit import AuditAction
from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.text import write_count
from aitp_desk.store.base import Reader, StoreError
from aitp_desk.store.engine.engines import open_snapshot
from aitp_desk.store.reads.audit_log import audit_rows, check_audit
from aitp_desk.store.reads.credentials.clients import list_clients
from aitp_desk.store.reads.threads import list_tokens
from aitp_desk.store.records.clients import Client
from aitp_desk.store.records.keys import Key

DAY_SECONDS = 24 * 3600
IDLE_DAYS = 90
"""A credential that was not used for so long is hardly missed."""
MANY_REFUSED = 100
"""Within a day; fewer are mistakes of people and of programs with an old key."""
MOST_NAMES = 5


async def check_database(config: Config, findings: Findings) -> None:
    """Check the credentials and the audit log; nothing is changed, and the desk may be running."""
    try:
        async with open_snapshot(config.store, config.data, os.environ) as reader:
            applied, known = await reader.version()
            if applied != known:
                what = f"not read: the database has schema {applied}, this version {known}"
                findings.warn("keys", what, "examine it with the version that serves it")
                return
            now = time.time()
            keys = [key for key in await list_tokens(reader) if key.is_live(now)]
            clients = [client for client in await list_clients(reader) if client.is_live(now)]
            _check_credentials(keys, clients, now, findings)
            await _check_audit(reader, config, now, findings)
    except (KeyFileError, StoreError) as error:
        advice = "serve the site once first, or give the account and the master key of the desk"
        findings.warn("audit", f"not read: {error}", advice)


def _check_credentials(
    keys: Sequence[Key], clients: Sequence[Client], now: float, findings: Findings
) -> None:
    """Find credentials without an end, and without use.

    Parameters:
        keys, clients: the valid ones.
    """
    endless = [key.name for key in keys if key.expires_at is None]
    endless += [client.name for client in clients if client.expires_at is None]
    if endless:
        what = f"without an end: {_join(endless)}"
        findings.warn("keys", what, "make others with --expires, and revoke these")
    since = now - IDLE_DAYS * DAY_SECONDS
    idle = [key.name for key in keys if max(key.created_at, key.used_at or 0) < since]
    if idle:
        what = f"not used for {IDLE_DAYS} days: {_join(idle)}"
        findings.warn("keys", what, "revoke what nobody needs: aitp-desk token revoke NAME")
    told = f"valid: {write_count(len(keys), 'key')}, {write_count(len(clients), 'client')}"
    if mighty := [key.name for key in keys if is_operator_scope(key.scopes)]:
        told += f"; all threads are open to {_join(mighty)}"
    findings.approve("keys", told)


async def _check_audit(reader: Reader, config: Config, now: float, findings: Findings) -> None:
    """Verify the audit log, and count the credentials that were refused within a day."""
    keys = await known_data_keys(reader, config.data, os.environ)
    if keys is None:
        return  # nothing was ever recorded
    checked = await check_audit(reader, derive_audit_keys(keys))
    if checked.broken is not None:
        findings.fault(
            "audit",
            f"the log is broken at row {checked.broken}: {checked.why}",
            "it was changed by other means: docs/run/security.md#the-machine-was-broken-into",
        )
        return
    findings.approve(
        "audit",
        f"{write_count(checked.head.n - checked.dropped, 'row')}, unchanged; head {checked.head}",
    )
    refused = 0
    async for row in audit_rows(reader):
        if row.action == AuditAction.CREDENTIAL_REFUSED.value and row.at >= now - DAY_SECONDS:
            refused += row.count
    if refused >= MANY_REFUSED:
        what = f"credentials were refused {refused} times within a day"
        findings.warn("audit", what, "see which and from where: aitp-desk audit export")


def _join(names: Sequence[str]) -> str:
    """Return the first names, for a line."""
    return ", ".join(names[:MOST_NAMES]) + (" and more" if len(names) > MOST_NAMES else "")
