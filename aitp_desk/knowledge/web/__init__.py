"""Reads external pages in rounds and stores copies.

A round (``round.py``) lists the pages (``page_list.py``, ``sitemap.py``), requests each politely
(``robots.py``), determines its format, tests whether it can be parsed in time (``time_limit.py``)
and stores the result (``copies.py``). The copies are content like the files of the folder; the desk
answers from the last ones if no server can be reached.
"""
