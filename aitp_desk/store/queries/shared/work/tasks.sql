-- columns task: Of a task, as it is read.
id, desk, thread_id, context, created_at, changed_at;

-- columns push: Of an address that is told of a task, as it is read.
id, task_id, url, sealed, version, principal, asked_by, created_at;

-- add_task: Writes down a task.
INSERT INTO tasks (id, desk, thread_id, context, owner, created_at, changed_at)
VALUES (:id, :desk, :thread_id, :context, :owner, :now, :now);

-- move_task: Notes when a task's newest turn was.
UPDATE tasks SET changed_at = :now WHERE id = :id RETURNING id;

-- add_task_turn: Writes down a turn of a task.
INSERT INTO task_turns (task_id, n, message_id, run_id, call_id, asked, said, created_at, principal)
VALUES (:task_id, :n, :message_id, :run_id, :call_id, :asked, :said, :now, :principal);

-- say_of_turn: Notes of what came of a call what it is to the tasks that asked for it.
UPDATE task_turns SET said = :said WHERE call_id = :call_id;

-- task: Finds a task at a desk.
SELECT {task} FROM tasks WHERE id = :id AND desk = :desk;

-- task_at_any_desk: Finds a task.
SELECT {task} FROM tasks WHERE id = :id;

-- task_of_run: Finds the task at a desk that a run works on.
SELECT {task} FROM tasks
WHERE id IN (SELECT task_id FROM task_turns WHERE run_id = :run_id) AND desk = :desk;

-- task_of_call: Finds the task at a desk that a call is.
SELECT {task} FROM tasks
WHERE id IN (SELECT task_id FROM task_turns WHERE call_id = :call_id) AND desk = :desk;

-- task_turns: Lists the newest turns of a task, the newest first.
SELECT n, message_id, run_id, call_id, asked, said, created_at, principal FROM task_turns
WHERE task_id = :task_id ORDER BY n DESC LIMIT :limit;

-- thread_of_context: Finds the thread of a conversation that has had a task.
SELECT thread_id FROM tasks WHERE context = :context AND desk = :desk LIMIT 1;

-- tasks_of_thread: Lists the newest tasks of a thread before a place, the newest first.
SELECT {task} FROM tasks
WHERE thread_id = :thread_id AND (changed_at, id) < (:changed_at, :id)
ORDER BY changed_at DESC, id DESC LIMIT :limit;

-- tasks_of_owner: Lists the newest tasks of a principal before a place, the newest first.
SELECT {task} FROM tasks
WHERE owner = :owner AND desk = :desk AND (changed_at, id) < (:changed_at, :id)
ORDER BY changed_at DESC, id DESC LIMIT :limit;

-- put_push: Writes down whom to tell of a task, or says it anew.
INSERT INTO task_pushes (task_id, id, url, sealed, version, principal, asked_by, created_at)
VALUES (:task_id, :id, :url, :sealed, :version, :principal, :asked_by, :now)
ON CONFLICT (task_id, id) DO UPDATE SET url = :url, sealed = :sealed, version = :version,
  principal = :principal, asked_by = :asked_by, created_at = :now;

-- receivers_of_thread: Lists whom to tell of the tasks of a thread, with who set it and whose the thread is.
SELECT p.task_id, p.id, p.asked_by, h.owner, h.desk
FROM tasks t JOIN task_pushes p ON p.task_id = t.id JOIN threads h ON h.id = t.thread_id
WHERE t.thread_id = :thread_id;

-- delete_receivers_of: Has nobody told any more whom a principal has named.
DELETE FROM task_pushes WHERE principal = :principal;

-- pushes: Lists whom to tell of a task.
SELECT {push} FROM task_pushes WHERE task_id = :task_id ORDER BY created_at, id;

-- push: Finds whom to tell of a task.
SELECT {push} FROM task_pushes WHERE task_id = :task_id AND id = :id;

-- delete_push: Has nobody told there of a task of a thread any more.
DELETE FROM task_pushes WHERE task_id = :task_id AND id = :id
  AND task_id IN (SELECT id FROM tasks WHERE thread_id = :thread_id)
RETURNING id;

-- pushes_of_task: Lists whom to tell of a task of a thread.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk
FROM task_pushes p JOIN tasks t ON t.id = p.task_id
WHERE p.task_id = :task_id AND t.thread_id = :thread_id;

-- pushes_of_run: Lists whom to tell of the tasks that a run works on, with their threads.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk
FROM task_turns u
JOIN task_pushes p ON p.task_id = u.task_id
JOIN tasks t ON t.id = u.task_id
WHERE u.run_id = :run_id;

-- pushes_of_call: Lists whom to tell of the tasks that a call is, with their threads.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk
FROM task_turns u
JOIN task_pushes p ON p.task_id = u.task_id
JOIN tasks t ON t.id = u.task_id
WHERE u.call_id = :call_id;

-- pushes_of_people: Lists whom to tell of the tasks of a thread that people answer, with the turn.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk, u.n
FROM tasks t
JOIN task_pushes p ON p.task_id = t.id
JOIN task_turns u ON u.task_id = t.id
LEFT JOIN runs r ON r.id = u.run_id
WHERE t.thread_id = :thread_id AND u.message_id IS NOT NULL AND (u.run_id IS NULL OR r.error = :error)
  AND NOT EXISTS (SELECT 1 FROM task_turns later WHERE later.task_id = t.id AND later.n > u.n);

-- give_tasks: Makes a thread's tasks somebody's.
UPDATE tasks SET owner = :owner WHERE thread_id = :thread_id;

-- delete_pushes_of_thread: Has nobody told of a thread's tasks any more.
DELETE FROM task_pushes WHERE task_id IN (SELECT id FROM tasks WHERE thread_id = :thread_id);

-- delete_turns_of_thread: Forgets the turns of a thread's tasks.
DELETE FROM task_turns WHERE task_id IN (SELECT id FROM tasks WHERE thread_id = :thread_id);

-- delete_tasks_of_thread: Forgets a thread's tasks.
DELETE FROM tasks WHERE thread_id = :thread_id;

-- erase_task_turns: Drops what was asked in the tasks of a thread since a time, and what was said.
UPDATE task_turns SET asked = NULL, said = NULL
WHERE task_id IN (SELECT id FROM tasks WHERE thread_id = :thread_id) AND created_at >= :since;
