"""A real PostgreSQL and a real Redis-protocol server for a machine that has neither.

Promises: what is started here listens to nobody else, stops with the process that started it
(however that ends), and gives the code two database roles exactly as production does.
Does not know: Django. Nothing in production imports this package.
"""
