-- columns conversation: The columns of a conversation on a platform.
id, transport, address, thread_id, desk, person, principal, subject, language, state, reason,
active_seq, queued_seq, sent_seq, sent_parts, last_ref, heard_at, created_at;

-- conversation_at: Finds the conversation that a platform calls so.
SELECT {conversation} FROM transport_conversations
WHERE transport = :transport AND address = :address;

-- conversation: Finds a conversation.
SELECT {conversation} FROM transport_conversations WHERE id = :id;

-- conversations_of_thread: Lists the conversations that a thread carries.
SELECT {conversation} FROM transport_conversations WHERE thread_id = :thread_id ORDER BY id;

-- conversations_shown: Lists where a thread is carried, with what keeps its messages back.
SELECT c.transport, c.state, CASE c.reason WHEN '' THEN (
    SELECT j.last_error FROM jobs j
    WHERE j.thread_id = c.thread_id AND j.principal = c.id AND j.kind = :kind
      AND j.state IN ('queued', 'at_work') AND j.last_error IS NOT NULL
    ORDER BY j.id LIMIT 1
) ELSE c.reason END
FROM transport_conversations c WHERE c.thread_id = :thread_id ORDER BY c.id;

-- put_conversation: Inserts a conversation.
INSERT INTO transport_conversations (
    id, transport, address, thread_id, desk, person, principal, subject, language, state, reason,
    active_seq, queued_seq, sent_seq, sent_parts, last_ref, heard_at, created_at
) VALUES (
    :id, :transport, :address, :thread_id, :desk, :person, :principal, :subject, :language, 'open',
    '', :seq, :seq, :seq, 0, '', :now, :now
);

-- rows theirs: Those of a principal, on all threads or one.
principal = :whose AND (:thread_id = '' OR thread_id = :thread_id);

-- conversations_of_principal: Lists the conversations of a person, on all threads or one.
SELECT id FROM transport_conversations
WHERE {theirs};

-- drop_controls_of_conversation: Deletes what a conversation's buttons and forms stood for.
DELETE FROM transport_controls WHERE conversation = :id;

-- drop_transport_messages_of_conversation: Deletes what a platform calls a conversation's messages.
DELETE FROM transport_messages WHERE conversation = :id;

-- drop_conversation: Deletes a conversation.
DELETE FROM transport_conversations WHERE id = :id;

-- rows waiting: Those of a principal that are unfinished.
state IN ('queued', 'at_work') AND coalesce(principal, '') = :who;

-- rows handled: The messages of a name, of the conversation at an address or of those left there.
c.transport = :transport AND (c.address = :address OR (c.address > :left AND c.address < :end))
    AND m.ref = :ref;

-- waiting_events: Counts the unfinished events of a kind and a principal, with the newest one's id.
SELECT count(CASE kind WHEN :kind THEN 1 END), max(id) FROM jobs
WHERE kind IN (:event, :stop) AND {waiting};

-- newest_stop: Finds the id of a principal's newest opt-out, finished or not.
SELECT max(id) FROM jobs WHERE kind = :stop AND principal = :who;

-- message_is_next: Returns a row if a thread still carries the conversation at an address, which is
-- open, no event of the principal is unfinished, and no message of this name is handled.
SELECT 1 FROM transport_conversations WHERE id = :id AND thread_id = :thread_id AND state = 'open'
AND transport = :transport AND address = :address
AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = :event AND {waiting})
AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = :stop AND {waiting})
AND NOT EXISTS (
    SELECT 1 FROM transport_conversations c
    JOIN transport_messages m ON m.conversation = c.id WHERE {handled}
);

-- conversation_at_rest: Finds the conversation at an address, unless an event of the principal is
-- unfinished, or the message of this name is handled.
SELECT {conversation} FROM transport_conversations
WHERE transport = :transport AND address = :address
AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = :event AND {waiting})
AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = :stop AND {waiting})
AND NOT EXISTS (
    SELECT 1 FROM transport_conversations c
    JOIN transport_messages m ON m.conversation = c.id WHERE {handled}
);

-- stop_before: Returns a row if a principal's opt-out waits that came before an event.
SELECT 1 FROM jobs
WHERE kind = :stop AND {waiting} AND id < :id LIMIT 1;

-- stop_after: Returns a row if a principal's opt-out came after an event.
SELECT 1 FROM jobs WHERE kind = :stop AND principal = :who AND id > :id LIMIT 1;

-- hasten_messages: Lets the messages to a conversation go that wait for a time of the day.
UPDATE jobs SET available_at = 0
WHERE kind = :kind AND coalesce(principal, '') = :conversation AND state = 'queued'
  AND failures = 0 AND available_at > 0;

-- hear_conversation: Stores that the person has written; what was held back is to be sent now.
-- The person's own message is not: where it alone has no job, none is needed.
UPDATE transport_conversations SET
    queued_seq = CASE WHEN state <> 'open' THEN sent_seq WHEN queued_seq + 1 = :seq THEN :seq
        ELSE queued_seq END,
    state = 'open',
    reason = '', last_ref = CASE :ref WHEN '' THEN last_ref ELSE :ref END,
    active_seq = CASE WHEN active_seq < :seq THEN :seq ELSE active_seq END,
    heard_at = :now, language = CASE :language WHEN '' THEN language ELSE :language END
WHERE id = :id;

-- end_conversation: Stores that a conversation takes no messages, or none now.
UPDATE transport_conversations SET state = :state, reason = :reason WHERE id = :id;

-- stop_conversations: Ends the conversations of a person who wants no messages.
UPDATE transport_conversations SET state = 'stopped', reason = :reason
WHERE principal IN (:proven, :unproven) AND state IN ('open', 'offered', 'waiting');

-- put_opt_out: Stores that a person wants no messages.
INSERT INTO transport_opt_outs (person) VALUES (:person) ON CONFLICT (person) DO NOTHING;

-- drop_opt_out: Deletes that a person wants no messages.
DELETE FROM transport_opt_outs WHERE person = :person;

-- opt_out: Returns a row for a person who wants no messages.
SELECT 1 FROM transport_opt_outs WHERE person = :person;

-- unsent_messages: Returns whether the desk has spoken after a message of a thread.
SELECT 1 FROM messages WHERE thread_id = :thread_id AND seq > :seq AND origin = 'desk' LIMIT 1;

-- queue_conversation: Stores up to which message jobs are queued.
UPDATE transport_conversations SET queued_seq = :seq WHERE id = :id;

-- conversations_behind: Lists open conversations whose threads have messages without a job.
SELECT c.id, c.thread_id, t.last_seq FROM transport_conversations c
JOIN threads t ON t.id = c.thread_id
WHERE c.state = 'open' AND t.last_seq > c.queued_seq AND t.deleted_at IS NULL
  AND c.id > :after
ORDER BY c.id LIMIT :limit;

-- conversations_behind_of_thread: Lists a thread's open conversations with messages without a job.
SELECT c.id, c.thread_id, t.last_seq, c.queued_seq, c.desk FROM transport_conversations c
JOIN threads t ON t.id = c.thread_id
WHERE c.thread_id = :thread_id AND c.state = 'open' AND t.last_seq > c.queued_seq
  AND t.deleted_at IS NULL;

-- move_sent: Stores how far a conversation's messages are sent.
UPDATE transport_conversations SET sent_seq = :seq, sent_parts = :parts
WHERE id = :id AND (sent_seq, sent_parts) < (:seq, :parts);

-- rename_conversation: Stores what the platform calls a conversation now, unless another has it.
UPDATE transport_conversations SET address = :address, last_ref = ''
WHERE id = :id AND NOT EXISTS (
    SELECT 1 FROM transport_conversations o
    WHERE o.transport = transport_conversations.transport AND o.address = :address
) RETURNING id;

-- add_transport_message: Stores what the platform calls a message, unless the conversation was
-- deleted meanwhile.
INSERT INTO transport_messages (conversation, seq, part, ref)
SELECT c.id, :seq, :part, :ref FROM transport_conversations c WHERE c.id = :id
ON CONFLICT (conversation, seq, part) DO UPDATE SET ref = :ref;

-- add_command: Stores what a platform calls a message that is on no thread.
INSERT INTO transport_messages (conversation, seq, part, ref)
SELECT c.id, 0, 1 + coalesce(
    (SELECT max(part) FROM transport_messages WHERE conversation = c.id AND seq = 0), 0
), :ref FROM transport_conversations c WHERE c.id = :id;

-- is_handled: Returns rows if a message of this name is handled.
SELECT 1 FROM transport_conversations c
JOIN transport_messages m ON m.conversation = c.id WHERE {handled}
UNION ALL SELECT 1 FROM jobs WHERE kind = :kind AND ref = :remembered;

-- transport_message: Finds the message that a platform calls so, unless it was deleted.
SELECT m.id, m.seq, m.principal FROM transport_messages r
JOIN transport_conversations c ON c.id = r.conversation
JOIN messages m ON m.thread_id = c.thread_id AND m.seq = r.seq
WHERE r.conversation = :id AND r.ref = :ref AND m.content IS NOT NULL;

-- corrections: Lists the messages of a thread that correct one, unless they were deleted.
SELECT id FROM messages
WHERE thread_id = :thread_id AND content IS NOT NULL AND instr(metadata, :edits) > 0 ORDER BY seq;

-- conversation_of_message: Finds the conversation where a message of this name is, the one at an
-- address before those that were left there.
SELECT {conversation} FROM transport_conversations WHERE id = (
    SELECT c.id FROM transport_conversations c
    JOIN transport_messages m ON m.conversation = c.id WHERE {handled}
    ORDER BY CASE c.address WHEN :address THEN 0 ELSE 1 END, c.id DESC LIMIT 1
);

-- transport_refs_of_message: Lists where a message of the desk was sent, and its names there.
SELECT c.id, c.principal, c.transport, c.address, r.ref FROM messages m
JOIN transport_conversations c ON c.thread_id = m.thread_id
JOIN transport_messages r ON r.conversation = c.id AND r.seq = m.seq
WHERE m.thread_id = :thread_id AND m.id = :id AND m.origin = 'desk'
ORDER BY c.id, r.part;

-- newest_names: Lists the newest messages of a conversation, or of all that a thread carries.
SELECT c.transport, c.address, c.principal, c.heard_at, r.ref FROM transport_conversations c
JOIN transport_messages r ON r.conversation = c.id WHERE c.id = :id OR c.thread_id = :thread_id
ORDER BY r.seq DESC, r.part DESC LIMIT :limit;

-- transport_refs: Lists what a platform calls the newest messages of a conversation.
SELECT seq, part, ref FROM transport_messages WHERE conversation = :id
ORDER BY seq DESC, part DESC LIMIT :limit;

-- put_control: Inserts what a button or form stands for, unless the conversation was deleted
-- meanwhile.
INSERT INTO transport_controls (token, conversation, capability, request, answer, expires_at)
SELECT :token, c.id, :capability, :request, :answer, :expires_at
FROM transport_conversations c WHERE c.id = :conversation
ON CONFLICT (token) DO NOTHING;

-- drop_control: Deletes what a button or form stands for.
DELETE FROM transport_controls WHERE token = :token RETURNING conversation;

-- offer_conversation: Inserts a conversation that a person has still to confirm.
INSERT INTO transport_conversations (
    id, transport, address, thread_id, desk, person, principal, subject, language, state, reason,
    active_seq, queued_seq, sent_seq, sent_parts, last_ref, heard_at, created_at
) VALUES (
    :id, :transport, :address, :thread_id, :desk, :person, :principal, :subject, :language,
    'offered', '', :seq, :seq, :seq, 0, '', 0, :now
) ON CONFLICT (transport, address) DO NOTHING;

-- offers_to: Counts a person's new offers on other threads, and conversations that reach nobody.
SELECT count(CASE WHEN state = 'offered' AND created_at > :after THEN 1 END),
    count(CASE WHEN state = 'unreachable' THEN 1 END)
FROM transport_conversations WHERE principal IN (:proven, :unproven) AND id <> :id;

-- confirm_conversation: Opens a conversation that was offered, after a message of its thread.
UPDATE transport_conversations
SET state = 'open', active_seq = :seq WHERE id = :id AND state IN ('offered', 'stopped')
RETURNING id;

-- thread_owner: Reads the owner of a thread that is not deleted.
SELECT owner FROM threads WHERE id = :thread_id AND deleted_at IS NULL;

-- control: Finds what a button or form stands for.
SELECT conversation, capability, request, answer, expires_at FROM transport_controls
WHERE token = :token;

-- drop_expired_controls: Deletes what buttons and forms stood for.
DELETE FROM transport_controls WHERE token IN (
    SELECT token FROM transport_controls WHERE expires_at < :now ORDER BY expires_at LIMIT :limit
) RETURNING token;

-- keep_transport_bytes: Keeps bytes of a transport.
INSERT INTO transport_bytes (transport, key, data, principal, kept_at, expires)
VALUES (:transport, :key, :data, :whose, :now, :expires)
ON CONFLICT (transport, key) DO UPDATE SET data = :data, kept_at = :now;

-- claim_transport_bytes: Keeps bytes of a transport unless the key has some; returns those kept.
INSERT INTO transport_bytes (transport, key, data, principal, kept_at, expires)
VALUES (:transport, :key, :data, '', :now, 1)
ON CONFLICT (transport, key) DO UPDATE SET kept_at = :now
RETURNING data;

-- replace_transport_bytes: Replaces bytes of a transport that are still kept.
UPDATE transport_bytes SET data = :data, kept_at = :now
WHERE transport = :transport AND key = :key;

-- exchange_transport_bytes: Replaces bytes of a transport that are still those before.
UPDATE transport_bytes SET data = :data, kept_at = :now
WHERE transport = :transport AND key = :key AND data = :before
RETURNING key;

-- own_transport_bytes: Stores whose the bytes are that came with an event.
UPDATE transport_bytes SET principal = :whose
WHERE transport = :transport AND key = :key AND expires = 1;

-- drop_transport_bytes: Deletes the bytes that came with an event.
DELETE FROM transport_bytes WHERE transport = :transport AND key = :key AND expires = 1;

-- rows kept_of: The bytes that are kept of a person.
principal = :whose;

-- erase_transport_bytes: Deletes the bytes that are kept of a person.
DELETE FROM transport_bytes WHERE {kept_of};

-- transport_bytes: Reads bytes of a transport.
SELECT data FROM transport_bytes WHERE transport = :transport AND key = :key;

-- drop_old_transport_bytes: Deletes bytes that came with old events.
DELETE FROM transport_bytes WHERE (transport, key) IN (
    SELECT transport, key FROM transport_bytes WHERE expires = 1 AND kept_at < :before
    ORDER BY kept_at LIMIT :limit
) RETURNING key;

-- drop_controls_of_thread: Deletes what buttons and forms of a thread's conversations stood for.
DELETE FROM transport_controls WHERE conversation IN (
    SELECT id FROM transport_conversations WHERE thread_id = :thread_id
);

-- drop_transport_messages_of_thread: Deletes what platforms call a thread's messages.
DELETE FROM transport_messages WHERE conversation IN (
    SELECT id FROM transport_conversations WHERE thread_id = :thread_id
);

-- drop_conversations_of_thread: Deletes the conversations that a thread carries.
DELETE FROM transport_conversations WHERE thread_id = :thread_id;

-- personal_conversations_on_thread: Lists the conversations on platforms that go with a thread.
SELECT id, principal, thread_id, transport, address, person, subject, language, state, heard_at,
    created_at
FROM transport_conversations
WHERE thread_id = :thread_id AND id > :after ORDER BY id LIMIT :limit;

-- personal_conversations: Lists the conversations that an erasure of a principal forgets.
SELECT id, principal, thread_id, transport, address, person, subject, language, state, heard_at,
    created_at
FROM transport_conversations WHERE {theirs} AND id > :after ORDER BY id LIMIT :limit;

-- personal_controls: Lists what the buttons of a conversation stand for.
SELECT token, NULL, capability, request, answer, expires_at FROM transport_controls
WHERE conversation = :id AND token > :after ORDER BY token LIMIT :limit;

-- personal_bytes: Lists the bytes that an erasure of a person deletes.
SELECT transport || ' ' || key, NULL, transport, data, kept_at
FROM transport_bytes WHERE {kept_of}
  AND transport || ' ' || key > :after ORDER BY 1 LIMIT :limit;
