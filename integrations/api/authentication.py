"""Who asks: a bearer token, which speaks for one actor in one workspace.

Promises: no cookie and no session counts here, so that there is nothing to forge; an unknown and a
revoked token are the same 401.
Does not know what the actor may do: that is the gate's question.
"""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from integrations.actors import Actor
from integrations.models import ApiToken
from integrations.tokens import token_of


class BearerAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer` (RFC 6750)."""

    def authenticate(self, request: Request) -> tuple[Actor, ApiToken] | None:
        """Return the token and its actor; None where no credentials were sent."""
        header = request.headers.get("Authorization", "")
        if not header:
            return None
        scheme, _, plain = header.partition(" ")
        token = token_of(plain.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            raise AuthenticationFailed
        return token.actor, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        """Return the challenge of a 401."""
        return 'Bearer realm="razviel"'


class HasToken(BasePermission):
    """Lets in whoever brought a valid token."""

    def has_permission(self, request: Request, view: APIView) -> bool:  # noqa: ARG002 - DRF's signature
        """Say whether the request carries a token."""
        return isinstance(request.auth, ApiToken)
