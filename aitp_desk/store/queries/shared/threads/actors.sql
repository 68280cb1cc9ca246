-- add_actor: Adds an actor to a thread.
INSERT INTO actors (thread_id, position, id, capabilities, origin, principal, joined_event)
VALUES (:thread_id, :position, :id, :capabilities, :origin, :principal, :joined_event);

-- end_stay: Notes that an actor has left its thread.
UPDATE actors SET left_event = :event, left_seq = :seq
WHERE thread_id = :thread_id AND position = :position;

-- bind_actors: Binds the actors of a thread that are bound to nobody.
UPDATE actors SET principal = :principal
WHERE thread_id = :thread_id AND principal IS NULL AND origin = 'visitor' RETURNING id;

-- set_speaker: Says which actor speaks for a thread's opener where none is named.
UPDATE threads SET speaker = :speaker WHERE id = :thread_id;

-- actors: Lists those who took part in a thread after one of its events, the desk's own first.
SELECT id, capabilities FROM actors
WHERE thread_id = :thread_id AND joined_event <= :event
  AND (left_event IS NULL OR left_event > :event)
ORDER BY position;

-- actors_present: Lists those who take part in a thread now, with who brought them.
SELECT position, id, capabilities, origin, principal FROM actors
WHERE thread_id = :thread_id AND left_event IS NULL ORDER BY position;

-- last_position: Finds the place of the actor that joined a thread last.
SELECT max(position) FROM actors WHERE thread_id = :thread_id;

-- attendance: Says how a principal takes part in a thread: by the first of its actors that is there,
-- else by the one that left last.
SELECT id, left_seq, left_event FROM actors
WHERE thread_id = :thread_id AND principal = :principal
ORDER BY left_event IS NOT NULL, left_event DESC, position LIMIT 1;

-- bound_when_said: Says to whom the actor was bound that said a message, when it said it. No row
-- where no actor did: the message goes by its sender's own name.
SELECT a.principal FROM messages m JOIN actors a ON a.thread_id = m.thread_id AND a.id = m.actor
WHERE m.id = :id AND m.thread_id = :thread_id
  AND a.joined_event < m.event AND (a.left_event IS NULL OR a.left_event > m.event);

-- has_said: Says whether somebody has said a message of a thread that was not deleted.
SELECT 1 FROM messages WHERE thread_id = :thread_id AND actor = :actor LIMIT 1;

-- joined: Reads the actor that joined a thread with one of its events.
SELECT id, capabilities FROM actors WHERE thread_id = :thread_id AND joined_event = :event;
