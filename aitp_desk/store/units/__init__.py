"""Implements the rules of the desk's data as units of work (defined in ``base.py``).

    placed = await store.run(append_message, thread_id=..., ...)

All arguments are passed by name. What a unit may touch is derived from them (``engine/unit.py``):
the thread named by ``thread_id``, ``thread``, ``fork``, ``session`` or ``claim``, the key of
``idempotency``, the ``nonce``, and the audit log if there is an ``Auditor``; a unit that names no
thread, key or nonce may touch anything.
"""
