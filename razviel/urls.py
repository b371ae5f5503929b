"""Every address of the web process, each area on a line of its own.

Promises: what is not listed here does not exist. Does not know: what stands behind an address.
"""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from razviel import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
