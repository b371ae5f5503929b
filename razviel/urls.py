"""Every address of the web process, each area on a line of its own.

Promises: what is not listed here does not exist. Does not know: what stands behind an address.
"""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from integrations.api import failures
from razviel import api, health
from razviel.console import console

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(url="/console/"), name="home"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("console/", console.urls),
    path("api/v1/", include((api.urlpatterns, "api"))),
    re_path(r"^api(?:/|$)", failures.no_such_address),
]
handler400 = failures.bad_request
handler500 = failures.server_error
