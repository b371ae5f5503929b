"""Sealing of credentials and personal data at rest: AES-256-GCM under a ring of keys.

Promises: what is sealed opens only under its key and in the context (workspace, field ...) that it
was sealed for; each sealed value names its key, so that keys rotate without a flag day; no error,
repr or log holds plain text or key material.
Does not know what is sealed, or where it is stored.
"""

import os
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

_FORMAT = b"\x01"
_KEY_BYTES = 32
# 96 random bits: NIST SP 800-38D allows 2**32 values under one key; rotate long before.
# https://doi.org/10.6028/NIST.SP.800-38D section 8.3 (known, not read again, 2026-11-30)
_NONCE_BYTES = 12
_TAG_BYTES = 16
_ID_MAX = 64


class WrongKey(Exception):
    """The sealing key is not in RAZVIEL_VAULT_KEYS: put it back behind the current one, rotate."""


class Tampered(Exception):
    """The value was changed, cut, or moved from its place: treat it as lost, find out by whom."""


class BadKeyRing(Exception):
    """RAZVIEL_VAULT_KEYS is not a list `id:base64-of-32-bytes,...` with the current key first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRing:
    """The keys that open, and the one of them that seals."""

    current: str
    keys: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> "KeyRing":
        """Read a ring from `id:base64,...`; the first key is the current one.

        Raises:
            BadKeyRing: Empty, malformed, a wrong length, or an id twice. The message never quotes
                the text.
        """
        entries = [_parse_key(entry) for entry in text.split(",")]
        keys = dict(entries)
        if len(keys) != len(entries):
            raise BadKeyRing("an id stands there twice")
        return cls(current=entries[0][0], keys=keys)

    def seal(self, plain: bytes, *, context: tuple[str, ...]) -> bytes:
        """Seal under the current key, for one context only."""
        header = _header(self.current)
        nonce = os.urandom(_NONCE_BYTES)
        cipher = AESGCM(self.keys[self.current])
        return header + nonce + cipher.encrypt(nonce, plain, _associated(header, context))

    def open_sealed(self, sealed: bytes, *, context: tuple[str, ...]) -> bytes:
        """Return the plain bytes.

        Raises:
            WrongKey: Sealed under a key that is not in the ring.
            Tampered: Not what was sealed for this context.
        """
        key = self.keys.get(key_id(sealed))
        if key is None:
            raise WrongKey
        header, nonce, cipher_text = _split(sealed)
        try:
            return AESGCM(key).decrypt(nonce, cipher_text, _associated(header, context))
        except InvalidTag:
            # The chain ends here: nothing of the attempt may be printed with it.
            raise Tampered from None

    def rotate(self, sealed: bytes, *, context: tuple[str, ...]) -> bytes:
        """Return the same content sealed under the current key; unchanged if it already is.

        Raises:
            WrongKey: As `open_sealed`.
            Tampered: As `open_sealed`; checked also where nothing changes.
        """
        plain = self.open_sealed(sealed, context=context)
        return sealed if key_id(sealed) == self.current else self.seal(plain, context=context)


def seal(plain: bytes, *, context: tuple[str, ...]) -> bytes:
    """Seal under the installation's current key.

    Args:
        plain: What to keep secret.
        context: Where it belongs, e.g. (workspace, table, row, field). It opens only with the
            same.
    """
    return _ring().seal(plain, context=context)


def open_sealed(sealed: bytes, *, context: tuple[str, ...]) -> bytes:
    """Open what `seal` made.

    Raises:
        WrongKey: Its key is no longer in RAZVIEL_VAULT_KEYS.
        Tampered: It was changed, or sealed for another context.
    """
    return _ring().open_sealed(sealed, context=context)


def rotate(sealed: bytes, *, context: tuple[str, ...]) -> bytes:
    """Return the same content sealed under the installation's current key.

    Raises:
        WrongKey: Its key is no longer in RAZVIEL_VAULT_KEYS.
        Tampered: It was changed, or sealed for another context.
    """
    return _ring().rotate(sealed, context=context)


def key_id(sealed: bytes) -> str:
    """Return which key sealed a value; needs no key.

    Raises:
        Tampered: It is not a sealed value at all.
    """
    header, _, _ = _split(sealed)
    return header[2:].decode("ascii")


def _ring() -> KeyRing:
    return _parsed(settings.RAZVIEL_VAULT_KEYS)


@lru_cache(maxsize=2)
def _parsed(text: str) -> KeyRing:
    return KeyRing.parse(text)


def _parse_key(entry: str) -> tuple[str, bytes]:
    identifier, separator, encoded = entry.strip().partition(":")
    proper = identifier.isascii() and identifier.isprintable() and len(identifier) <= _ID_MAX
    if not (separator and identifier and proper):
        raise BadKeyRing("an entry is not id:base64")
    try:
        # URL-safe base64 and plain base64 differ in two letters; either is taken.
        key = b64decode(encoded.replace("-", "+").replace("_", "/"), validate=True)
    except (NotBase64, ValueError):
        raise BadKeyRing(f"the key {identifier} is not base64") from None
    if len(key) != _KEY_BYTES:
        raise BadKeyRing(f"the key {identifier} has not {_KEY_BYTES} bytes")
    return identifier, key


def _header(identifier: str) -> bytes:
    return _FORMAT + bytes([len(identifier)]) + identifier.encode("ascii")


def _split(sealed: bytes) -> tuple[bytes, bytes, bytes]:
    """Return header, nonce, and cipher text with its tag."""
    if len(sealed) < len(_FORMAT) + 1 or sealed[:1] != _FORMAT:
        raise Tampered
    head = 2 + sealed[1]
    body = head + _NONCE_BYTES
    if not sealed[2:head].isascii() or len(sealed) < body + _TAG_BYTES:
        raise Tampered
    return sealed[:head], sealed[head:body], sealed[body:]


def _associated(header: bytes, context: tuple[str, ...]) -> bytes:
    # Each part with its length before it: ("ab", "c") and ("a", "bc") are different places.
    parts = (part.encode() for part in context)
    return header + b"".join(len(part).to_bytes(4, "big") + part for part in parts)
