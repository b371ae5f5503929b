"""Migrations: tables first, then what the database itself guards."""
