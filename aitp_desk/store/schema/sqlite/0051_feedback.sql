-- What people think of answers: one row for each person and message.
CREATE TABLE feedback (
    thread_id  TEXT    NOT NULL REFERENCES threads (id),
    message_id TEXT    NOT NULL REFERENCES messages (id),
    principal  TEXT    NOT NULL,  -- id of who rated it; empty: the anonymous visitor
    rating     TEXT    NOT NULL,  -- model/conversation/feedback.py: Rating
    reason     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,  -- Unix seconds
    PRIMARY KEY (thread_id, message_id, principal)
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_by_age ON feedback (created_at);
CREATE INDEX feedback_of_principal ON feedback (principal) WHERE principal <> '';
