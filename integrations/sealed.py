"""Personal data and free text, sealed with a key per person that the vault wraps.

Promises: what is sealed here is readable only with the person's own key, bound to workspace and
field; destroying that key erases everything it sealed, at once and everywhere; digests under the
key let evidence compare without holding the data.
Does not know who the person is.
"""

import hmac
from hashlib import sha256
from secrets import token_bytes

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from integrations import vault
from integrations.clock import now
from integrations.models import SealedPayload, SubjectKey, Workspace

_NONCE_BYTES = 12


class Erased(Exception):
    """The person's key was destroyed: what it sealed can't be read any more, by anyone."""


def new_subject_key(*, workspace: Workspace) -> SubjectKey:
    """Create the data key of one person, wrapped by the vault."""
    wrapped = vault.seal(token_bytes(32), context=_wrapping(workspace.pk))
    return SubjectKey.objects.create(workspace=workspace, wrapped=wrapped)


def seal(*, subject_key: SubjectKey, field: str, text: str) -> SealedPayload:
    """Store a text sealed with a person's key, for one field.

    Raises:
        Erased: The key was destroyed.
    """
    nonce = token_bytes(_NONCE_BYTES)
    cipher = AESGCM(_key(subject_key))
    sealed = nonce + cipher.encrypt(nonce, text.encode(), _bound_to(subject_key, field))
    return SealedPayload.objects.create(
        workspace_id=subject_key.workspace_id, subject_key=subject_key, field=field, sealed=sealed
    )


def unseal(payload: SealedPayload) -> str:
    """Return a sealed text.

    Raises:
        Erased: The key was destroyed.
        vault.Tampered: The payload is not what was sealed for this workspace and field.
    """
    content = bytes(payload.sealed)
    cipher = AESGCM(_key(payload.subject_key))
    bound_to = _bound_to(payload.subject_key, payload.field)
    try:
        return cipher.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], bound_to).decode()
    except InvalidTag:
        raise vault.Tampered from None


def digest(*, subject_key: SubjectKey, text: str) -> str:
    """Return an HMAC-SHA-256 (hex) of a text under a person's key.

    It can be compared, and means nothing once the key is destroyed.

    Raises:
        Erased: The key was destroyed.
    """
    return hmac.new(_key(subject_key), b"digest\0" + text.encode(), sha256).hexdigest()


def rewrap(subject_key: SubjectKey) -> bool:
    """Wrap a person's key under the vault's current key; say whether that changed it.

    Raises:
        vault.WrongKey: It was wrapped under a key that is no longer in the ring.
        vault.Tampered: It is not what was wrapped for this workspace.
    """
    if subject_key.wrapped is None:
        return False
    before = bytes(subject_key.wrapped)
    wrapped = vault.rotate(before, context=_wrapping(subject_key.workspace_id))
    # Compare-and-set: a key that is destroyed meanwhile must not come back.
    same = SubjectKey.objects.filter(pk=subject_key.pk, destroyed_at=None, wrapped=before)
    return wrapped != before and same.update(wrapped=wrapped) == 1


def destroy(subject_key: SubjectKey) -> None:
    """Destroy a person's key, for good."""
    moment = now()
    SubjectKey.objects.filter(pk=subject_key.pk, destroyed_at=None).update(
        wrapped=None, destroyed_at=moment
    )


def _key(subject_key: SubjectKey) -> bytes:
    if subject_key.wrapped is None:
        raise Erased
    return vault.open_sealed(
        bytes(subject_key.wrapped), context=_wrapping(subject_key.workspace_id)
    )


def _wrapping(workspace_id: int) -> tuple[str, ...]:
    return ("subject key", str(workspace_id))


def _bound_to(subject_key: SubjectKey, field: str) -> bytes:
    return f"{subject_key.workspace_id}\0{subject_key.pk}\0{field}".encode()
