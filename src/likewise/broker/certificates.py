"""The certificate a broker shows and its key, checked before anything listens."""

from __future__ import annotations

import ssl
from pathlib import Path

from likewise.broker.config import ServerSettings
from likewise.errors import ArtefactMissing, InputError


def check_certificate(server: ServerSettings) -> None:
    """Refuse a certificate without its key, files that are not there, and a key that does not fit.

    >>> check_certificate(ServerSettings(tls_certificate="cert.pem"))
    Traceback (most recent call last):
    likewise.errors.InputError: TLS needs both a certificate and its key; give both or neither
    """
    certificate, key = server.tls_certificate, server.tls_key
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        raise InputError("TLS needs both a certificate and its key; give both or neither")
    for path in (certificate, key):
        if not Path(path).is_file():
            raise ArtefactMissing(f"there is no file {path}; TLS needs it")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise InputError(f"{certificate} and {key} are no certificate and its key in PEM form: {error}") from None


def server_context(server: ServerSettings) -> ssl.SSLContext | None:
    """Return the TLS context of the listeners; None without a certificate.

    The files are read once. There is no TLS reload: a renewed certificate is shown after a restart.
    """
    if server.tls_certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.tls_certificate, server.tls_key)
    return context
