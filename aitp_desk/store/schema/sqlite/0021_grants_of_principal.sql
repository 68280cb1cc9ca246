-- To find what was shared with somebody who is erased.
CREATE INDEX grants_of_principal ON grants (principal);
