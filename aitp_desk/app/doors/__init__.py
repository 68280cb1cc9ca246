"""The doors of a process, made: each is given its desks, its settings and what it needs beside."""
