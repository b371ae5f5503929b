"""The settings of a run on this machine: secrets drawn here, plain http, loopback only.

Promises: a kept folder keeps its secrets too, since they open what its database holds; whatever
the environment already says wins. Does not know: what a deployment needs.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from pathlib import Path

_SECRETS_NAME = "secrets.json"


def local_settings(keep: Path | None) -> dict[str, str]:
    """Return the variables of a local run; the caller lets the environment override them."""
    return {
        "DJANGO_SETTINGS_MODULE": "razviel.settings",
        "RAZVIEL_PLAIN_HTTP": "1",
        "RAZVIEL_ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
        **_secrets(keep),
    }


def _secrets(keep: Path | None) -> dict[str, str]:
    if keep is None:
        return _drawn()
    file = keep / _SECRETS_NAME
    if not file.exists():
        fresh = file.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(_drawn(), out)
        fresh.replace(file)
    kept = json.loads(file.read_text())
    return {str(name): str(value) for name, value in kept.items()}


def _drawn() -> dict[str, str]:
    key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    return {"RAZVIEL_SECRET_KEY": secrets.token_urlsafe(50), "RAZVIEL_VAULT_KEYS": f"local:{key}"}
