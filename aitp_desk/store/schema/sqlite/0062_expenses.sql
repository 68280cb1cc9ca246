-- What a call has agreed to pay elsewhere, for the owner.
ALTER TABLE calls ADD COLUMN spent TEXT;  -- JSON
