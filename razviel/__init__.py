"""The project: settings, addresses, Celery application, health and the embedded servers.

It knows every other package and nobody imports it, except tests and the commands that start it.
"""
