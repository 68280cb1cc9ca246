"""Tests of whole desks over their protocols, as clients use them."""
