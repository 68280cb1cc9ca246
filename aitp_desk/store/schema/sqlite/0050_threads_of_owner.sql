-- The threads of a known caller, newest last: the chat goes on with one of them on another device.
CREATE INDEX threads_of_owner ON threads (owner, desk, id)
    WHERE owner IS NOT NULL AND deleted_at IS NULL;
