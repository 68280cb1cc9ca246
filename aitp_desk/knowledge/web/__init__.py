"""Reads external pages in rounds and stores copies.

A round (``gather.py``) lists the pages (``listing.py``, ``sitemap.py``), requests each politely
(``manners.py``), determines its format (``reading.py``), tests whether it can be parsed in time
(``trial.py``) and stores the result (``copies.py``). The copies are content like the files of the
folder; the desk answers from the last ones if no server can be reached.
"""
