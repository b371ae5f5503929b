"""The Django app `actions`. Connects no signals."""

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    """Registers the app."""

    name = "actions"
    default_auto_field = "django.db.models.BigAutoField"
