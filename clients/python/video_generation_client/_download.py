"""The state of a download that continues at the byte where its connection broke."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Union

from ._errors import VideoError, error_of
from ._flows import Patience
from .api_types import Task


class Download:
    def __init__(self, source: Union[Task, str], repeat_for: float) -> None:
        url = source if isinstance(source, str) else source.get("video_url")
        if not url:
            raise VideoError("The task has no video.", status=0, code="file_removed")
        self.url = url
        self.patience = Patience(repeat_for)
        self.received = 0
        self._skipped = 0
        self._etag = ""

    def headers(self) -> Dict[str, str]:
        plain = {"Accept-Encoding": "identity"}
        return {**plain, "Range": f"bytes={self.received}-"} if self.received else plain

    def is_complete(self, status: int) -> bool:
        """True if the connection broke after the last byte."""
        return status == 416 and self.received > 0

    def begin(self, status: int, headers: Mapping[str, Any]) -> None:
        self._skipped = 0 if status == 206 else self.received
        etag = headers.get("etag") or ""
        if self.received and self._etag and etag and etag != self._etag:
            raise VideoError(
                "The file changed while it was read.", status=412, code="content_changed"
            )
        self._etag = self._etag or etag

    def take(self, chunk: bytes) -> bytes:
        """The part of a chunk that is new."""
        fresh = chunk[self._skipped :]
        self._skipped = max(0, self._skipped - len(chunk))
        self.received += len(fresh)
        self.patience.progressed()
        return fresh

    @staticmethod
    def refusal(status: int, headers: Mapping[str, str], body: bytes) -> VideoError:
        return error_of(status, headers, body)
