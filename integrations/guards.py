"""What the database itself holds for every caller, raw SQL included, by what the models declare.

Promises: one place turns declarations (`mutable`, `write_once`, `deletable`, scoped references)
and hand-written triggers into SQL, installs them, and grants the application's role just that
much; installing twice changes nothing. A refusal carries the guard's name as the constraint name
of an IntegrityError.
Does not use django-pgtrigger: its `pgtrigger.ignore` session setting lets any role switch
triggers off (docs/adr/0003).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from integrations.rows import GuardedRow, ScopedForeignKey, WorkspaceRow

if TYPE_CHECKING:
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SEARCH_PATH = "SET search_path = pg_catalog, public, pg_temp"
"""Guards look names up here first, so that no caller's temporary table stands in for evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A trigger with its function: `body` is PL/pgSQL between BEGIN and END."""

    name: str
    table: str
    when: str
    """For instance `BEFORE INSERT OR UPDATE`."""
    body: str
    declare: str = ""
    deferred: bool = False

    def sql(self) -> Iterator[str]:
        """Yield the statements that install this guard, whatever stood there before."""
        constraint, deferrable = (
            ("CONSTRAINT", "DEFERRABLE INITIALLY DEFERRED") if self.deferred else ("", "")
        )
        yield (
            f"CREATE OR REPLACE FUNCTION public.{self.name}() RETURNS trigger LANGUAGE plpgsql {SEARCH_PATH} AS "
            f"$guard$\nDECLARE\n{self.declare}\nBEGIN\n{self.body}\nEND\n$guard$"
        )
        yield f"DROP TRIGGER IF EXISTS {self.name} ON public.{self.table}"
        yield (
            f"CREATE {constraint} TRIGGER {self.name} {self.when} ON public.{self.table} {deferrable} "
            f"FOR EACH ROW EXECUTE FUNCTION public.{self.name}()"
        )


def refuse(guard: str, sentence: str) -> str:
    """Return the PL/pgSQL that refuses, with the guard's name where a constraint's name stands."""
    return (
        f"RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = '{guard}', "
        f"MESSAGE = '{sentence}';"
    )


def columns_of(model: type[models.Model]) -> list[str]:
    """Return the column names of a model's table, in order."""
    columns = (field.column for field in model._meta.concrete_fields)
    return [column for column in columns if column is not None]


def changes_guard(model: type[GuardedRow]) -> Guard:
    """Return the guard that limits updates and deletes of a row to what its model declares."""
    table = model._meta.db_table
    name = f"{table}_changes"
    changeable = {*model.mutable, *model.write_once}
    lines: list[str] = []
    if model.deletable:
        lines.append("IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;")
    else:
        lines.append(
            f"IF TG_OP = 'DELETE' THEN {refuse(name, f'rows of {table} are never deleted')} END IF;"
        )
    frozen = [column for column in columns_of(model) if column not in changeable]
    old, new = (", ".join(f"{row}.{column}" for column in frozen) for row in ("OLD", "NEW"))
    lines.append(
        f"IF ROW({old}) IS DISTINCT FROM ROW({new}) THEN {refuse(name, f'a column of {table} that never changes was changed')} END IF;"
    )
    lines += [
        f"IF OLD.{column} IS NOT NULL AND OLD.{column} IS DISTINCT FROM NEW.{column} THEN "
        f"{refuse(name, f'{table}.{column} is written once')} END IF;"
        for column in model.write_once
    ]
    lines.append("RETURN NEW;")
    return Guard(name=name, table=table, when="BEFORE UPDATE OR DELETE", body="\n".join(lines))


def scoped_references(model: type[models.Model]) -> Iterator[str]:
    """Yield the statements that make each reference of a model carry its workspace."""
    table = model._meta.db_table
    for field in model._meta.concrete_fields:
        if not isinstance(field, ScopedForeignKey):
            continue
        name = f"{table}_{field.column}_scoped"[:63]
        target = field.related_model._meta.db_table
        yield f"ALTER TABLE public.{table} DROP CONSTRAINT IF EXISTS {name}"
        yield (
            f"ALTER TABLE public.{table} ADD CONSTRAINT {name} FOREIGN KEY (workspace_id, {field.column}) "
            f"REFERENCES public.{target} (workspace_id, id)"
        )


def privileges(model: type[GuardedRow], role: str) -> Iterator[str]:
    """Yield the grants of the application's role on one table: never more than the model declares."""
    table = model._meta.db_table
    yield f'REVOKE ALL ON public.{table} FROM "{role}"'
    yield f'GRANT SELECT, INSERT ON public.{table} TO "{role}"'
    if changeable := [*model.mutable, *model.write_once]:
        yield f'GRANT UPDATE ({", ".join(changeable)}) ON public.{table} TO "{role}"'
    if model.deletable:
        yield f'GRANT DELETE ON public.{table} TO "{role}"'


def application_role() -> str:
    """Return the name of the role that the application connects as."""
    return str(settings.DATABASES["default"]["USER"])


def full_privileges(tables: Iterable[str], role: str) -> Iterator[str]:
    """Yield the grants on Django's own tables (log-in, sessions, admin log), for the Console."""
    for table in tables:
        yield f'GRANT SELECT, INSERT, UPDATE, DELETE ON public.{table} TO "{role}"'


def statements(app_models: Iterable[type[models.Model]], guards: Iterable[Guard]) -> Iterator[str]:
    """Yield all that an app's tables need, in an order that works from nothing and from itself."""
    guarded = [model for model in app_models if issubclass(model, GuardedRow)]
    role = application_role()
    for model in guarded:
        if issubclass(model, WorkspaceRow):
            table = model._meta.db_table
            yield f"CREATE UNIQUE INDEX IF NOT EXISTS {table}_scope ON public.{table} (workspace_id, id)"
    for model in guarded:
        yield from scoped_references(model)
        yield from changes_guard(model).sql()
        yield from privileges(model, role)
    for guard in guards:
        yield from guard.sql()


def install(
    schema_editor: "BaseDatabaseSchemaEditor",
    app_models: Iterable[type[models.Model]],
    guards: Iterable[Guard],
) -> None:
    """Install an app's guards; called by a migration."""
    for statement in statements(app_models, guards):
        schema_editor.execute(statement, params=None)
