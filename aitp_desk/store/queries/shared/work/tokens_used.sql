-- add_tokens_used: Adds the tokens that a model used on a day.
INSERT INTO tokens_used (day, used_by, tokens) VALUES (:day, :used_by, :tokens)
ON CONFLICT (day, used_by) DO UPDATE SET tokens = tokens_used.tokens + excluded.tokens;

-- forget_tokens_used: Deletes the counts of days before one.
DELETE FROM tokens_used WHERE day < :day;

-- tokens_used: Reads how many tokens models have used on a day.
SELECT tokens FROM tokens_used WHERE day = :day AND used_by = :used_by;
