"""The code runs as a role that owns nothing; tests reset what it can't."""

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import ProgrammingError, connection
from psycopg import sql

from tests.database import TestDatabase


@pytest.mark.django_db
def test_the_code_runs_as_the_applications_role_which_owns_no_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_user, count(*) FROM pg_tables WHERE tableowner = current_user"
        )
        assert cursor.fetchone() == ("razviel_app", 0)


@pytest.mark.django_db
def test_the_applications_role_cannot_create_a_table() -> None:
    refused = pytest.raises(ProgrammingError, match="permission denied for schema public")
    with connection.cursor() as cursor, refused:
        cursor.execute("CREATE TABLE mine (id integer)")


def test_a_reset_empties_filled_tables_even_those_that_refuse_it(
    test_database: TestDatabase,
) -> None:
    owner = test_database.connection
    assert owner is not None
    owner.execute("CREATE TABLE evidence (id integer)")
    try:
        owner.execute(
            "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$"
        )
        owner.execute("CREATE TRIGGER keep BEFORE TRUNCATE ON evidence EXECUTE FUNCTION no()")
        owner.execute("ALTER TABLE evidence ENABLE ALWAYS TRIGGER keep")
        owner.execute("INSERT INTO evidence VALUES (1)")
        assert test_database.tables_with_rows() == ["evidence"]
        test_database.reset()
        assert test_database.tables_with_rows() == []
        with pytest.raises(psycopg.errors.RaiseException):
            owner.execute("TRUNCATE evidence")
    finally:
        owner.execute("DROP TABLE evidence")
        owner.execute("DROP FUNCTION no")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", [1, 2])
def test_a_committed_row_is_gone_for_the_next_test(turn: int, test_database: TestDatabase) -> None:
    owner = test_database.connection
    assert owner is not None
    assert test_database.tables_with_rows() == []
    role = sql.Identifier(str(test_database.application_parameters["user"]))
    owner.execute(sql.SQL("GRANT SELECT, INSERT ON auth_user TO {}").format(role))
    owner.execute("GRANT USAGE ON SEQUENCE auth_user_id_seq TO razviel_app")
    User.objects.create(username="same name each time")
    assert test_database.tables_with_rows() == ["auth_user"]
