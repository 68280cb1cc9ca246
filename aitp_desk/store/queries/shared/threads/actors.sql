-- add_actor: Adds an actor to a thread.
INSERT INTO actors (thread_id, position, id, capabilities, origin, principal, joined_event)
VALUES (:thread_id, :position, :id, :capabilities, :origin, :principal, :joined_event);

-- end_stay: Stores that an actor has left its thread.
UPDATE actors SET left_event = :event, left_seq = :seq
WHERE thread_id = :thread_id AND position = :position;

-- bind_actors: Binds the actors of a thread that are not bound yet.
UPDATE actors SET principal = :principal
WHERE thread_id = :thread_id AND principal IS NULL AND origin = 'visitor' RETURNING id;

-- set_speaker: Stores which actor speaks for a thread's opener by default.
UPDATE threads SET speaker = :speaker WHERE id = :thread_id;

-- actors: Lists the participants of a thread after one of its events, the desk's first.
SELECT id, capabilities FROM actors
WHERE thread_id = :thread_id AND joined_event <= :event
  AND (left_event IS NULL OR left_event > :event)
ORDER BY position;

-- actors_present: Lists the current participants of a thread, with who added them.
SELECT position, id, capabilities, origin, principal FROM actors
WHERE thread_id = :thread_id AND left_event IS NULL ORDER BY position;

-- last_position: Finds the position of the actor that joined a thread last.
SELECT max(position) FROM actors WHERE thread_id = :thread_id;

-- attendance: Reads how a principal participates in a thread: through the first actor that is
-- present, else the one that left last.
SELECT id, left_seq, left_event FROM actors
WHERE thread_id = :thread_id AND principal = :principal
ORDER BY left_event IS NOT NULL, left_event DESC, position LIMIT 1;

-- bound_when_said: Reads to whom the actor of a message was bound when it was sent. No row if no
-- actor sent it.
SELECT a.principal FROM messages m JOIN actors a ON a.thread_id = m.thread_id AND a.id = m.actor
WHERE m.id = :id AND m.thread_id = :thread_id
  AND a.joined_event < m.event AND (a.left_event IS NULL OR a.left_event > m.event);

-- has_said: Returns whether a sender has a message on a thread that is not deleted.
SELECT 1 FROM messages WHERE thread_id = :thread_id AND actor = :actor LIMIT 1;

-- joined: Reads the actor that joined a thread with an event.
SELECT id, capabilities FROM actors WHERE thread_id = :thread_id AND joined_event = :event;
