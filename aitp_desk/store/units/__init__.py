"""Implements the rules of the desk's data as units of work (defined in ``base.py``).

    placed = await store.run(threads.append_message, thread_id=..., ...)

All arguments are passed by name. What a unit may touch is derived from them (``engine/unit.py``):
the thread named by ``thread_id``, ``thread``, ``fork``, ``session`` or ``claim``, the key of
``idempotency``, the ``nonce``, and the audit log if there is an ``Auditor``; a unit that names no
thread, key or nonce may touch anything.
"""

from aitp_desk.store.units.audit import keep_audit
from aitp_desk.store.units.jobs.jobs import (
    JOBS_EPOCH,
    bury_job,
    claim_jobs,
    drop_job,
    enqueue_job,
    finish_job,
    forget_jobs,
    put_back_job,
    release_jobs,
    renew_job,
    retry_job,
)
from aitp_desk.store.units.keys.clients import (
    create_client,
    register_client,
    revoke_client,
    rotate_client,
    rotate_signing_key,
)
from aitp_desk.store.units.keys.data_keys import (
    add_data_key,
    add_wrappings,
    keep_first_data_key,
    keep_wrappings_of,
    reset_data_keys,
)
from aitp_desk.store.units.keys.jwts import revoke_jwts
from aitp_desk.store.units.keys.nonces import forget_nonces, keep_nonce
from aitp_desk.store.units.keys.tokens import (
    TOKENS_EPOCH,
    create_token,
    note_token_use,
    revoke_token,
    rotate_token,
)
from aitp_desk.store.units.privacy.retention import trim_audit
from aitp_desk.store.units.runs.token_usage import add_tokens_used
from aitp_desk.store.units.runs.workers import (
    MAX_ATTEMPTS,
    claim_runs,
    fail_run,
    finish_run,
    release_runs,
    renew_lease,
)
from aitp_desk.store.units.threads.actors import MAX_STAYS, join_thread, leave_thread
from aitp_desk.store.units.threads.claims import claim_thread
from aitp_desk.store.units.threads.deletion import (
    delete_message,
    delete_thread,
    set_message_metadata,
)
from aitp_desk.store.units.threads.files import add_file, delete_file
from aitp_desk.store.units.threads.folded_threads import fold_turn, unfold_thread
from aitp_desk.store.units.threads.grants import revoke_grant, share_thread
from aitp_desk.store.units.threads.sessions import delete_expired, record_exchange
from aitp_desk.store.units.threads.summaries import keep_summary
from aitp_desk.store.units.threads.threads import (
    append_message,
    open_thread,
    update_thread,
)

__all__ = [
    "JOBS_EPOCH",
    "MAX_ATTEMPTS",
    "MAX_STAYS",
    "TOKENS_EPOCH",
    "add_data_key",
    "add_file",
    "add_tokens_used",
    "add_wrappings",
    "append_message",
    "bury_job",
    "claim_jobs",
    "claim_runs",
    "claim_thread",
    "create_client",
    "create_token",
    "delete_expired",
    "delete_file",
    "delete_message",
    "delete_thread",
    "drop_job",
    "enqueue_job",
    "fail_run",
    "finish_job",
    "finish_run",
    "fold_turn",
    "forget_jobs",
    "forget_nonces",
    "join_thread",
    "keep_audit",
    "keep_first_data_key",
    "keep_nonce",
    "keep_summary",
    "keep_wrappings_of",
    "leave_thread",
    "note_token_use",
    "open_thread",
    "put_back_job",
    "record_exchange",
    "register_client",
    "release_jobs",
    "release_runs",
    "renew_job",
    "renew_lease",
    "reset_data_keys",
    "retry_job",
    "revoke_client",
    "revoke_grant",
    "revoke_jwts",
    "revoke_token",
    "rotate_client",
    "rotate_signing_key",
    "rotate_token",
    "set_message_metadata",
    "share_thread",
    "trim_audit",
    "unfold_thread",
    "update_thread",
]
