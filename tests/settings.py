"""The project's settings as tests see them: the real ones, with secrets that protect nothing.

Promises: addresses come from razviel.embedded.pytest_plugin or the environment; the placeholders
below only let tools read the settings without a server.
"""

import os

os.environ.setdefault("RAZVIEL_SECRET_KEY", "a secret of the tests, which protects nothing at all")
os.environ.setdefault("RAZVIEL_VAULT_KEYS", "tests:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
os.environ.setdefault("DATABASE_URL", "postgres://razviel_app@/razviel")
os.environ.setdefault("DATABASE_OWNER_URL", "postgres://razviel_owner@/razviel")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:6379/0")

from razviel.settings import *  # noqa: F403 - the variables above come first; all are wanted

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
RAZVIEL_ALLOW_PRIVATE_PLATFORMS = True
SECURE_SSL_REDIRECT = False
STATIC_ROOT = None  # whitenoise warns of a missing folder, and warnings are errors
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher"
]  # logging in is not tested here
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
