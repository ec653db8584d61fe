"""Signatures of webhooks, as the Standard Webhooks specification has them: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Final

from likewise.errors import InputError

PREFIX: Final = "whsec_"
_SHORTEST: Final = 16  # bytes of a secret that somebody chose


def make_secret() -> str:
    """Return a new secret of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def key_of(secret: str) -> bytes:
    """Return the key of a secret: Base64 after `whsec_`, else the text as it is.

    >>> key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")[:4], key_of("sixteen letters!")[:4]
    (b'1\\xf2\\x90\\xf6', b'sixt')
    >>> key_of("short")
    Traceback (most recent call last):
    likewise.errors.InputError: a secret has at least 16 bytes; leave it out, and the broker makes one
    """
    try:
        key = base64.b64decode(secret[len(PREFIX) :], validate=True) if secret.startswith(PREFIX) else secret.encode()
    except (binascii.Error, ValueError):
        raise InputError("a secret that begins with whsec_ goes on in Base64; leave it out, and one is made") from None
    if len(key) < _SHORTEST:
        raise InputError(f"a secret has at least {_SHORTEST} bytes; leave it out, and the broker makes one")
    return key


def signed_headers(secret: str, id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers with a message's id, its time and its signature.

    >>> signed_headers("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
    ...                b'{"test": 2432232314}')["webhook-signature"]
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    signed = f"{id}.{timestamp}.".encode() + body
    signature = base64.b64encode(hmac.new(key_of(secret), signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": id, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{signature}"}
