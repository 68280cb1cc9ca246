"""Content from elsewhere: pages of other servers, read in rounds and kept as copies.

A round (``gather.py``) lists the pages (``listing.py``, ``sitemap.py``), asks for each as its
server likes to be asked (``manners.py``), reads what it is written in (``reading.py``), tries
whether that can be read in time (``trial.py``) and keeps what it found (``copies.py``). The copies
are content like the files of the folder; the desk answers from the last ones when nobody can be
reached.
"""
