-- columns task: The columns of a task.
id, desk, thread_id, context, created_at, changed_at;

-- columns push: The columns of a task's push notification configuration.
id, task_id, url, sealed, version, principal, asked_by, created_at;

-- add_task: Inserts a task.
INSERT INTO tasks (id, desk, thread_id, context, owner, created_at, changed_at)
VALUES (:id, :desk, :thread_id, :context, :owner, :now, :now);

-- move_task: Updates when a task's newest turn was.
UPDATE tasks SET changed_at = :now WHERE id = :id RETURNING id;

-- add_task_turn: Inserts a turn of a task.
INSERT INTO task_turns (task_id, n, message_id, run_id, call_id, asked, said, created_at, principal)
VALUES (:task_id, :n, :message_id, :run_id, :call_id, :asked, :said, :now, :principal);

-- say_of_turn: Stores on a call's result what it means to the tasks that requested it.
UPDATE task_turns SET said = :said WHERE call_id = :call_id;

-- task: Finds a task at a desk.
SELECT {task} FROM tasks WHERE id = :id AND desk = :desk;

-- task_at_any_desk: Finds a task.
SELECT {task} FROM tasks WHERE id = :id;

-- task_of_run: Finds the task at a desk that a run works on.
SELECT {task} FROM tasks
WHERE id IN (SELECT task_id FROM task_turns WHERE run_id = :run_id) AND desk = :desk;

-- task_of_call: Finds the task at a desk that a call belongs to.
SELECT {task} FROM tasks
WHERE id IN (SELECT task_id FROM task_turns WHERE call_id = :call_id) AND desk = :desk;

-- task_turns: Lists the newest turns of a task, the newest first.
SELECT n, message_id, run_id, call_id, asked, said, created_at, principal FROM task_turns
WHERE task_id = :task_id ORDER BY n DESC LIMIT :limit;

-- thread_of_context: Finds the thread of a context that has a task.
SELECT thread_id FROM tasks WHERE context = :context AND desk = :desk LIMIT 1;

-- tasks_of_thread: Lists the newest tasks of a thread before a position, the newest first.
SELECT {task} FROM tasks
WHERE thread_id = :thread_id AND (changed_at, id) < (:changed_at, :id)
ORDER BY changed_at DESC, id DESC LIMIT :limit;

-- tasks_of_owner: Lists the newest tasks of a principal before a position, the newest first.
SELECT {task} FROM tasks
WHERE owner = :owner AND desk = :desk AND (changed_at, id) < (:changed_at, :id)
ORDER BY changed_at DESC, id DESC LIMIT :limit;

-- put_push: Inserts or replaces a push notification configuration of a task.
INSERT INTO task_pushes (task_id, id, url, sealed, version, principal, asked_by, created_at)
VALUES (:task_id, :id, :url, :sealed, :version, :principal, :asked_by, :now)
ON CONFLICT (task_id, id) DO UPDATE SET url = :url, sealed = :sealed, version = :version,
  principal = :principal, asked_by = :asked_by, created_at = :now;

-- receivers_of_thread: Lists the push notification configurations of a thread's tasks, with who set
-- each and the thread's owner.
SELECT p.task_id, p.id, p.asked_by, h.owner, h.desk
FROM tasks t JOIN task_pushes p ON p.task_id = t.id JOIN threads h ON h.id = t.thread_id
WHERE t.thread_id = :thread_id;

-- delete_receivers_of: Deletes the push notification configurations that a principal has set.
DELETE FROM task_pushes WHERE principal = :principal;

-- pushes: Lists the push notification configurations of a task.
SELECT {push} FROM task_pushes WHERE task_id = :task_id ORDER BY created_at, id;

-- push: Finds a push notification configuration of a task.
SELECT {push} FROM task_pushes WHERE task_id = :task_id AND id = :id;

-- delete_push: Deletes a push notification configuration of a task of a thread.
DELETE FROM task_pushes WHERE task_id = :task_id AND id = :id
  AND task_id IN (SELECT id FROM tasks WHERE thread_id = :thread_id)
RETURNING id;

-- pushes_of_task: Lists the push notification configurations of a task of a thread.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk
FROM task_pushes p JOIN tasks t ON t.id = p.task_id
WHERE p.task_id = :task_id AND t.thread_id = :thread_id;

-- pushes_of_run: Lists the push notification configurations of the tasks that a run works on, with
-- their threads.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk
FROM task_turns u
JOIN task_pushes p ON p.task_id = u.task_id
JOIN tasks t ON t.id = u.task_id
WHERE u.run_id = :run_id;

-- pushes_of_call: Lists the push notification configurations of the tasks of a call, with their
-- threads.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk
FROM task_turns u
JOIN task_pushes p ON p.task_id = u.task_id
JOIN tasks t ON t.id = u.task_id
WHERE u.call_id = :call_id;

-- pushes_of_people: Lists the push notification configurations of a thread's tasks that operators
-- answer, with the turn.
SELECT p.task_id, p.id, p.principal, t.thread_id, t.desk, u.n
FROM tasks t
JOIN task_pushes p ON p.task_id = t.id
JOIN task_turns u ON u.task_id = t.id
LEFT JOIN runs r ON r.id = u.run_id
WHERE t.thread_id = :thread_id AND u.message_id IS NOT NULL AND (u.run_id IS NULL OR r.error = :error)
  AND NOT EXISTS (SELECT 1 FROM task_turns later WHERE later.task_id = t.id AND later.n > u.n);

-- give_tasks: Gives a thread's tasks to a principal.
UPDATE tasks SET owner = :owner WHERE thread_id = :thread_id;

-- rows on_thread: Those of a thread's tasks.
task_id IN (SELECT id FROM tasks WHERE thread_id = :thread_id);

-- delete_pushes_of_thread: Deletes the push notification configurations of a thread's tasks.
DELETE FROM task_pushes WHERE {on_thread};

-- delete_turns_of_thread: Deletes the turns of a thread's tasks.
DELETE FROM task_turns WHERE task_id IN (SELECT id FROM tasks WHERE thread_id = :thread_id);

-- delete_tasks_of_thread: Deletes a thread's tasks.
DELETE FROM tasks WHERE thread_id = :thread_id;

-- erase_task_turns: Deletes the questions and replies in the tasks of a thread since a time.
UPDATE task_turns SET asked = NULL, said = NULL
WHERE {on_thread} AND created_at >= :since;

-- personal_task_turns: Lists the turns of tasks that an erasure of a person empties on a thread.
SELECT task_id || ' ' || CAST(n AS TEXT), principal, task_id, asked, said, created_at
FROM task_turns WHERE {on_thread} AND created_at >= :since
  AND task_id || ' ' || CAST(n AS TEXT) > :after ORDER BY 1 LIMIT :limit;

-- personal_pushes: Lists the push addresses that an erasure of a person deletes on a thread.
SELECT task_id || ' ' || id, principal, task_id, url, created_at
FROM task_pushes WHERE {on_thread}
  AND task_id || ' ' || id > :after ORDER BY 1 LIMIT :limit;
