"""The Django app `integrations`. Connects no signals."""

from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    """Registers the app."""

    name = "integrations"
    default_auto_field = "django.db.models.BigAutoField"
