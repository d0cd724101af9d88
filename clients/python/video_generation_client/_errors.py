"""The one error that the client raises for an answer, or for the lack of one."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Iterator, Mapping, Optional, Tuple


class VideoError(Exception):
    """The fields of a refusal. `status` is 0 if there was no answer.

    The client itself adds the codes `no_answer`, `unexpected_answer`, `content_changed` and
    `invalid_callback`.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        type: str = "",
        param: str = "",
        request_id: str = "",
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.type = type
        self.param = param
        self.request_id = request_id
        self.retry_after = retry_after
        # The key of a create that failed. If there was no answer, the task may exist.
        self.idempotency_key: Optional[str] = None
        # The task of a `create_and_wait` that failed during the wait.
        self.task_id: Optional[str] = None

    def __reduce__(self) -> Tuple[Any, ...]:
        """Exceptions are copied by positional arguments, and the fields are none."""
        make = partial(type(self), self.message, status=self.status, code=self.code)
        return make, (), self.__dict__


@contextmanager
def naming_task(task_id: str, key: str) -> Iterator[None]:
    """Tells the caller of `create_and_wait` what to continue with."""
    try:
        yield
    except VideoError as error:
        error.message += f" (task {task_id})"
        error.args = (error.message,)
        error.task_id = task_id
        error.idempotency_key = key
        raise


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> VideoError:
    said = _refusal_in(body)
    location = headers.get("location")
    to = f", a redirect to {location}" if location else ""
    return VideoError(
        said.get("message") or f"The answer was HTTP {status}{to}.",
        status=status,
        code=said.get("code") or "unexpected_answer",
        type=said.get("type") or "",
        param=said.get("param") or "",
        request_id=headers.get("x-request-id") or "",
        retry_after=retry_after_of(headers),
    )


def _refusal_in(body: bytes) -> Mapping[str, str]:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    error = parsed.get("error") if isinstance(parsed, dict) else None
    return error if isinstance(error, dict) else {}


def retry_after_of(headers: Mapping[str, str]) -> Optional[float]:
    """The seconds of `Retry-After`, which may also be a date."""
    text = headers.get("retry-after") or ""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None
