"""What every row of a workspace shares, declared once so that the database can hold it.

Promises: a row names its workspace, and each reference carries it (a composite foreign key, made
in `integrations.guards`), so that no row can point across. A model says which of its columns may
change; the database's grants and triggers are made from that.
Does not know what any row means.
"""

from base64 import b32encode
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from secrets import token_bytes
from typing import ClassVar, TypeVar

from django.db import models

from integrations.actors import ActorKind

_Set = TypeVar("_Set")
_Get = TypeVar("_Get")

AMOUNT_BOUND = Decimal(10) ** 15
"""Every stored amount is below this.

To PostgreSQL `NaN` is greater than every number, so that a lower bound alone would let it in.
"""


IDENTITY_LENGTH_MAX = 120
"""The longest identity of an actor; a person's is their username."""


def new_public_id(prefix: str) -> str:
    """Return an unguessable public identifier: a prefix and 128 random bits in base 32."""
    return f"{prefix}_{b32encode(token_bytes(16)).decode().rstrip('=').lower()}"


def public_id(prefix: str) -> "models.CharField[str, str]":
    """Return the field for a row's public identifier."""
    return models.CharField(
        max_length=40, unique=True, editable=False, default=partial(new_public_id, prefix)
    )


def actor_kind(*, blank: bool = False) -> "models.CharField[str, str]":
    """Return the field for the kind of an actor."""
    choices = [(kind.value, kind.value.replace("_", " ")) for kind in ActorKind]
    return models.CharField(max_length=12, choices=choices, blank=blank)


def actor_identity(*, blank: bool = False) -> "models.CharField[str, str]":
    """Return the field for the identity of an actor within its kind."""
    return models.CharField(max_length=IDENTITY_LENGTH_MAX, blank=blank)


class ScopedForeignKey(models.ForeignKey[_Set, _Get]):
    """A reference inside one workspace: the database holds it together with `workspace_id`.

    Its parameters are named so that the type checker knows what it refers to, and whether always.
    """

    def __init__(
        self,
        to: type[models.Model] | str,
        on_delete: Callable[..., None] = models.PROTECT,
        *,
        null: bool = False,
        **kwargs: object,
    ) -> None:
        kwargs["db_constraint"] = False
        super().__init__(to, on_delete, null=null, **kwargs)  # type: ignore[arg-type]  # as given


class GuardedRow(models.Model):
    """A row whose changes the database limits to the columns named here."""

    mutable: ClassVar[tuple[str, ...]] = ()
    """Columns that may change. None: the row is append-only."""
    write_once: ClassVar[tuple[str, ...]] = ()
    """Columns that may go from null to a value once, and then never change."""
    deletable: ClassVar[bool] = False
    """May a row be deleted?"""

    class Meta:
        abstract = True


class WorkspaceRow(GuardedRow):
    """A guarded row of one workspace."""

    workspace = models.ForeignKey("integrations.Workspace", on_delete=models.PROTECT)

    class Meta:
        abstract = True
