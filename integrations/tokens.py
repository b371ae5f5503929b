"""Tokens of the REST API: made once, shown once, kept as a digest.

Promises: a token is 256 random bits, so that its plain SHA-256 can't be guessed back; looking one
up compares digests, never secrets, so that its time tells nothing; a revoked token finds nobody.
Does not know requests or headers: that is `integrations.api`.
"""

from hashlib import sha256
from secrets import token_urlsafe

from integrations.actors import Actor
from integrations.clock import now
from integrations.models import ApiToken, Workspace

PREFIX = "rzv_"
"""Begins every token, so that secret scanners know one when they see it."""

_RANDOM_BYTES = 32


def create_token(*, workspace: Workspace, name: str, actor: Actor) -> tuple[ApiToken, str]:
    """Make a token that speaks for one actor in one workspace.

    Returns:
        The row, and the plain text, which is kept nowhere: show it now.
    """
    plain = PREFIX + token_urlsafe(_RANDOM_BYTES)
    row = ApiToken.objects.create(
        workspace=workspace,
        name=name,
        actor_kind=actor.kind,
        actor_identity=actor.identity,
        digest=_digest(plain),
    )
    return row, plain


def token_of(plain: str) -> ApiToken | None:
    """Return the token with this plain text; None if there is none or it was revoked."""
    rows = ApiToken.objects.filter(revoked_at=None).select_related("workspace")
    return rows.filter(digest=_digest(plain)).first()


def revoke(token: ApiToken) -> None:
    """Revoke a token, for good."""
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now())


def _digest(plain: str) -> str:
    return sha256(plain.encode(errors="surrogatepass")).hexdigest()
