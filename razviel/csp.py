"""The Content-Security-Policy header.

Promises: scripts, styles and connections come from this server alone, on every page; the Console
may evaluate expressions, which its theme's Alpine.js does, and still runs no inline script.
Does not know: which page is shown, only its address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

CONSOLE_PREFIX: Final = "/console/"
STRICT: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# https://github.com/unfoldadmin/django-unfold/issues/2129 (read 2026-11-30): the theme evaluates
# its attributes with Alpine.js and sets inline styles.
CONSOLE: Final = STRICT.replace("script-src 'self'", "script-src 'self' 'unsafe-eval'").replace(
    "style-src 'self'", "style-src 'self' 'unsafe-inline'"
)


class ContentSecurityPolicyMiddleware:
    """Adds the policy to every answer that has none of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request with the policy of its address."""
        response = self._get_response(request)
        policy = CONSOLE if request.path.startswith(CONSOLE_PREFIX) else STRICT
        response.headers.setdefault("Content-Security-Policy", policy)
        return response
