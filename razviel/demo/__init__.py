"""`make demo`: the product's own processes on this machine, the cases played, the records compared.

Promises: what is shown happened over real HTTP through the API; nothing is left running, however it
ends. Nothing in production imports this.
"""
