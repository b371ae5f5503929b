"""`make bench`: what the whole path does per second on this machine, beside what it stands on.

Promises: measures the product's own processes on a real database and broker with fsync on; each
figure stands beside the commits per second of the same database in the same run, and a run whose
ground moved says so. Nothing in production imports this.
"""
