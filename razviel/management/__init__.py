"""Commands of `manage.py` that play with the whole product on one machine."""
