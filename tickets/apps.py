"""The Django app `tickets`. Connects no signals."""

from django.apps import AppConfig


class TicketsConfig(AppConfig):
    """Registers the app."""

    name = "tickets"
    default_auto_field = "django.db.models.BigAutoField"
