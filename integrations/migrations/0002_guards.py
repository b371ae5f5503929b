"""Install what the database guards on the tables of integrations, and grant the application its share."""

from django.apps import apps as installed
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from integrations.guards import application_role, full_privileges, install

DJANGOS_OWN = (
    "auth_group", "auth_group_permissions", "auth_permission", "auth_user", "auth_user_groups", "auth_user_user_permissions",
    "django_admin_log", "django_content_type", "django_session",
)


def forwards(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Install the guards from what the models declare today; installing twice changes nothing."""
    install(schema_editor, installed.get_app_config("integrations").get_models(), ())
    for statement in full_privileges(DJANGOS_OWN, application_role()):
        schema_editor.execute(statement, params=None)
    schema_editor.execute(f'GRANT SELECT ON public.django_migrations TO "{application_role()}"', params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("integrations", "0001_initial"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("sessions", "0001_initial"),
    ]
    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
