"""The project as a Django application, so that its commands and templates are found."""

from django.apps import AppConfig


class RazvielConfig(AppConfig):
    """The outermost room: console, health, commands that need every other room."""

    name = "razviel"
    verbose_name = "Razviel"
