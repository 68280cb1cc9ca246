-- Whoever signs a head signs the address that the site had then, and that may become another.
ALTER TABLE countersignatures ADD COLUMN site TEXT NOT NULL DEFAULT '';  -- '': the present one
