"""What the database holds about intents, evidence and closing, for every caller, raw SQL included.

Promises: no state without its proof, no transition off the table or without its event, no attempt
past the window, no evidence bound twice, no ticket resolved without outcomes. Deferred guards
look at commit, since rows arrive one by one. A test compares what is installed.
Does not replace the code's own checks: it is the guard behind them. What it takes on trust: that
an echo, a read or an answer came from the platform, and the moments that callers write; both are
held by code, in one place each.
"""

from actions.guards import closing, evidence, intents
from actions.guards.functions import FUNCTIONS

GUARDS = (*intents.GUARDS, *evidence.GUARDS, *closing.GUARDS)
"""Every guard of actions, in no particular order: PostgreSQL runs triggers of one table by name."""

__all__ = ["FUNCTIONS", "GUARDS"]
