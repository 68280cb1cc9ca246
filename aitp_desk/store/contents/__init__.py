"""Where the bytes of uploaded files are kept: the database, or a bucket.

Their rows are in the database in both cases: what may be read, and by whom, is decided there.
"""
