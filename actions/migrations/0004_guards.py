"""Install what the database guards on the tables of actions, and grant the application its share."""

from django.apps import apps as installed
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from actions.guards import FUNCTIONS, GUARDS
from integrations.guards import install


def forwards(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Install the guards from what the models declare today; installing twice changes nothing."""
    for statement in FUNCTIONS:
        schema_editor.execute(statement, params=None)
    install(schema_editor, installed.get_app_config("actions").get_models(), GUARDS)


class Migration(migrations.Migration):
    dependencies = [("actions", "0003_limits_and_words"), ("tickets", "0004_guards")]
    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
