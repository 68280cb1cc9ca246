"""The rules by which the desk signs, and the decisions of its operators."""
