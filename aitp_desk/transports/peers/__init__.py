"""Partner sites, as actions and as agents of this desk.

A partner is one more source of actions (``ask_NAME``, and its own ones that the owner lists), so
that access, limits, records and protocols are those of every action. An agent that delegates, or
passes a conversation through, calls that action like any other tool.

It stands among the transports because it carries conversations elsewhere, above the visitor, which
it visits partners with. It knows the interfaces of actions and agents, and never the desk.
"""
