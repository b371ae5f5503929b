"""Install what the database guards on the tables of tickets, and grant the application its share."""

from django.apps import apps as installed
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from integrations.guards import install
from tickets.guards import GUARDS


def forwards(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Install the guards from what the models declare today; installing twice changes nothing."""
    install(schema_editor, installed.get_app_config("tickets").get_models(), GUARDS)


class Migration(migrations.Migration):
    dependencies = [("tickets", "0003_nothing_passes_as_null"), ("integrations", "0002_guards")]
    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
