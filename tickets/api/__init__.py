"""The endpoints of tickets that need no intents: open one, state a request, reopen.

Promises: everything is looked up in the workspace of the token; no e-mail address, subject or
message text is ever answered.
Does not know actions: `actions.api` shows the same tickets with their intents and outcomes.
"""
