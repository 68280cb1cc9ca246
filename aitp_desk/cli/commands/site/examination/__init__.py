"""The checks of ``aitp-desk doctor``: of a desk from outside, and of its folder."""
