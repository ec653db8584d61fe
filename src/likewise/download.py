"""Download a file over HTTP, resumed where an earlier download broke off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from likewise.errors import Unavailable

Progress = Callable[[int, int | None], None]  # bytes so far, bytes in all if known


def download(address: str, part: Path, path: Path, progress: Progress = lambda done, whole: None) -> None:
    """Bring what is missing of a file.

    Args:
        address: Where it is.
        part: What is there of it so far; the rest is appended.
        path: Where it is going to be, which the error names to whoever brings it from elsewhere.
        progress: Called with each piece.

    Raises:
        Unavailable: The server does not answer, or not with the file.
    """
    import httpx

    try:
        _fetch(address, part, progress)
    except httpx.HTTPStatusError as error:
        raise Unavailable(f"{address} answers with {error.response.status_code}; it may have moved") from error
    except (httpx.TransportError, httpx.TooManyRedirects) as error:
        raise Unavailable(
            f"{urlsplit(address).hostname} does not answer ({error or type(error).__name__}); this needs the "
            f"network. Without one here, bring {address} from elsewhere and put it into {path}"
        ) from None


def _fetch(address: str, part: Path, progress: Progress) -> None:
    import httpx

    have = part.stat().st_size if part.exists() else 0
    headers = {"accept-encoding": "identity", **({"range": f"bytes={have}-"} if have else {})}
    with httpx.stream("GET", address, headers=headers, follow_redirects=True, timeout=60) as answer:
        if answer.status_code == 416:  # nothing is left to send
            return
        answer.raise_for_status()
        if answer.status_code != 206:  # from the start, whatever we had
            have = 0
        length = answer.headers.get("content-length")
        whole = have + int(length) if length is not None else None
        with part.open("ab" if have else "wb") as stream:
            for piece in answer.iter_raw():
                stream.write(piece)
                have += len(piece)
                progress(have, whole)
