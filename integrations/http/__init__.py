"""The one HTTP client: `client.HttpClient` makes one exchange on one fresh connection.

Promises: whoever calls learns what is known of the effect, never an exception of a transport.
Read in this order: `messages` (what goes in and comes out), `client`, `exchange`, `connection`.
"""
