"""The simulated platforms that ship with the product: a real HTTP server that fails on demand.

Promises: behaves as the recorded answers of the references say, deterministically, and keeps the
ground truth. For demo, tests and users' trials only. Knows nothing of Razviel, and no production
code may import it.
"""
