"""Location of the unpacked embedded space: once in the user's cache, shared by every process."""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from likewise.errors import ArtefactDamaged, ArtefactError, ArtefactMissing
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.wordnet import embedded
from likewise.semantics.wordnet.relations import WordRelations, relations_in
from likewise.semantics.wordnet.taxonomy import Taxonomy, taxonomy_in


@lru_cache(maxsize=1)
def embedded_taxonomy() -> Taxonomy:
    """Return WordNet's taxonomy, for spaces without their own."""
    return taxonomy_in(embedded_files())


def embedded_folder() -> Path:
    """Return the folder of the unpacked embedded space of this version."""
    import platformdirs

    return platformdirs.user_cache_path("likewise") / "spaces" / f"{embedded.NAME}-{embedded.checksum()[:16]}"


@lru_cache(maxsize=1)
def embedded_relations() -> WordRelations:
    """Return the embedded space's word relations, for spaces without their own."""
    return relations_in(embedded_files())


def embedded_files() -> SpaceFiles:
    """Open the embedded space's files; unpack them into the cache if they are missing or incomplete."""
    folder = embedded_folder()
    try:
        return SpaceFiles(folder)
    except ArtefactMissing:
        pass
    except ArtefactDamaged:
        shutil.rmtree(folder, ignore_errors=True)
    try:
        return _unpacked(folder)
    except PermissionError:
        return _for_this_process()
    except OSError as error:
        if error.errno == errno.EROFS:
            return _for_this_process()
        raise ArtefactError(
            f"the embedded space cannot be unpacked into {folder}: {error}; make room or set XDG_CACHE_HOME"
        ) from None


def _unpacked(folder: Path) -> SpaceFiles:
    """Unpack next to the folder and rename. The first process wins, the others use its result."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking.") as near:
        embedded.unpack_embedded(Path(near) / folder.name)
        try:
            os.rename(Path(near) / folder.name, folder)
        except OSError:
            if not (folder / "manifest.json").is_file():
                raise
    return SpaceFiles(folder)


def _for_this_process() -> SpaceFiles:
    """Return a temporary folder of this process, for systems without a writable cache."""
    near = tempfile.mkdtemp(prefix="likewise-")
    atexit.register(shutil.rmtree, near, ignore_errors=True)
    return embedded.unpack_embedded(Path(near) / embedded.NAME)
