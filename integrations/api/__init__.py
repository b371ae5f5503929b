"""What every endpoint of the REST API stands on: tokens, problem documents, strict bodies.

Promises: each failure is a problem document (RFC 9457) that says what to do; whatever a body or a
query string says beyond the documented fields is refused; everything is looked up in the workspace
of the token.
Does not know tickets or actions: their endpoints stand in `tickets.api` and `actions.api`.
"""
