-- Who sent a turn of a task: the calls among them are shown to that caller and to who manages the thread.
ALTER TABLE task_turns ADD COLUMN principal TEXT;
UPDATE task_turns SET principal = (SELECT owner FROM tasks WHERE id = task_id);
