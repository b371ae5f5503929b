"""Where guards were first installed: the newest migration of that name does it for every database.

Guards are made from what the models declare today, so that only the last migration can install
them: an earlier one would speak of columns that are not there yet.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tickets", "0001_initial"), ("integrations", "0002_guards")]
    operations = []
