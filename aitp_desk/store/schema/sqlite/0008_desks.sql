-- Name of the further site agent that a thread talks with and at whose address a file was uploaded;
-- empty for the site's own.
ALTER TABLE threads ADD COLUMN desk TEXT NOT NULL DEFAULT '';
ALTER TABLE files ADD COLUMN desk TEXT NOT NULL DEFAULT '';
