"""Static files: hashed and compressed once collected, served straight from the source tree until then."""

from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage


class CollectedStorage(CompressedManifestStaticFilesStorage):
    """Hashed names after `collectstatic`, plain ones before, so that a fresh checkout needs no build step."""

    def url(self, name: str | None, force: bool = False) -> str:
        """The address of one static file."""
        if not self.hashed_files:
            return FileSystemStorage.url(self, name)
        return super().url(name, force)
