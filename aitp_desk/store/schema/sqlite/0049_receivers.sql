-- Who set a receiver of push notifications, with which credential: both are checked at each push.
ALTER TABLE task_pushes ADD COLUMN asked_by TEXT;
UPDATE task_pushes SET asked_by = (
  SELECT json_object('id', task_pushes.principal, 'kind', 'agent', 'scopes', json(scopes))
  FROM tokens WHERE 'key:' || tokens.id = task_pushes.principal
);
DELETE FROM task_pushes WHERE principal IS NOT NULL AND asked_by IS NULL;
CREATE INDEX task_pushes_of_principal ON task_pushes (principal) WHERE principal IS NOT NULL;
