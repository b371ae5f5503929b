"""The project as a Django application, so that its commands and templates are found."""

from django.apps import AppConfig

import razviel.celery  # noqa: F401 - every process that publishes needs the application, not only workers


class RazvielConfig(AppConfig):
    """The outermost room: console, health, commands that need every other room."""

    name = "razviel"
    verbose_name = "Razviel"
