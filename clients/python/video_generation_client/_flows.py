"""What the client does, as generators that send requests and pauses to whoever runs them.

The synchronous and the asynchronous client run the same generators, so they cannot differ. Every
request is safe to repeat.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from typing import Any, Dict, Generator, Mapping, NamedTuple, Optional, TypeVar, Union, cast
from urllib.parse import quote, urlencode

from ._errors import VideoError, error_of, retry_after_of
from ._shared import header_text
from .api_types import CancelledTask, CreatedTask, File, Quote, Task, VideoRequest

T = TypeVar("T")
Request = Union[VideoRequest, Mapping[str, Any]]

TASKS = "/v1/videos/generations"
REPEATABLE = frozenset({408, 429, 500, 502, 503, 504})


class Send(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str] = {}
    body: Optional[bytes] = None
    # Added to the time limit, for answers that the service holds back and for long uploads.
    held: float = 0


class Pause(NamedTuple):
    seconds: float


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(NamedTuple):
    reason: str


Reply = Union[Answer, NoAnswer, None]
Flow = Generator[Union[Send, Pause], Reply, T]


class Patience:
    """Decides after a failure whether to try again, and for how long to wait before it."""

    def __init__(self, repeat_for: float) -> None:
        self.repeat_for = repeat_for
        self.progressed()

    def progressed(self) -> None:
        # The first attempt does not count: it may be a long upload.
        self._began: Optional[float] = None
        self._failures = 0

    def pause_after(self, error: VideoError) -> float:
        if error.status != 0 and error.status not in REPEATABLE:
            raise error
        # Between the half and the whole of the pause, so that many clients do not return at once.
        backoff = min(8.0, 0.25 * 2**self._failures) * random.uniform(0.5, 1)
        pause = error.retry_after or backoff
        now = time.monotonic()
        self._began = self._began or now
        if now + pause > self._began + self.repeat_for:
            raise error
        self._failures += 1
        return pause


def no_answer(reason: str) -> VideoError:
    return VideoError(f"The service did not answer: {reason}.", status=0, code="no_answer")


class Exchange(NamedTuple):
    value: Any
    headers: Mapping[str, str]


class _LaterError(Exception):
    """An error after which an earlier attempt may have had an effect."""

    def __init__(self, error: VideoError) -> None:
        self.error = error


def exchange(send: Send, repeat_for: float, marks_later: bool = False) -> Flow[Exchange]:
    patience = Patience(repeat_for)
    attempts = 0
    while True:
        attempts += 1
        reply = yield send
        try:
            return _read(reply)
        except VideoError as error:
            try:
                pause = patience.pause_after(error)
            except VideoError:
                if marks_later and attempts > 1:
                    raise _LaterError(error) from None
                raise
        yield Pause(pause)


def _read(reply: Reply) -> Exchange:
    if not isinstance(reply, Answer):
        raise no_answer(reply.reason if reply else "nothing was sent")
    if reply.status >= 300:
        raise error_of(reply.status, reply.headers, reply.body)
    try:
        return Exchange(json.loads(reply.body), reply.headers)
    except ValueError as error:
        raise no_answer(f"the answer is not JSON ({error})") from None


def create(request: Request, key: str, repeat_for: float) -> Flow[CreatedTask]:
    headers = {"Idempotency-Key": header_text("idempotency_key", key)}
    send = _with_json("POST", TASKS, request, headers)
    try:
        return cast(CreatedTask, (yield from exchange(send, repeat_for)).value)
    except VideoError as error:
        error.idempotency_key = key
        raise


def get(task_id: str, hold: float, repeat_for: float) -> Flow[Task]:
    return cast(Task, (yield from _read_task(task_id, hold, repeat_for)).value)


def wait_step(task_id: str, hold: float, repeat_for: float) -> Flow[Task]:
    """One read of a wait. It takes the time of a poll even if the service does not hold it."""
    value, headers = yield from _read_task(task_id, hold, repeat_for)
    if not is_final(value) and "preference-applied" not in headers:
        yield Pause(retry_after_of(headers) or 3)
    return cast(Task, value)


def _read_task(task_id: str, hold: float, repeat_for: float) -> Flow[Exchange]:
    headers = {"Prefer": f"wait={int(hold)}"} if hold else {}
    send = Send("GET", _at(task_id), headers, held=hold)
    return (yield from exchange(send, repeat_for))


def is_final(task: Mapping[str, Any]) -> bool:
    return task.get("status") in ("succeeded", "failed")


def page(
    query: Mapping[str, str], repeat_for: float, path: str = "/v1/tasks"
) -> Flow[Dict[str, Any]]:
    send = Send("GET", f"{path}?{urlencode(query)}")
    return cast(Dict[str, Any], (yield from exchange(send, repeat_for)).value)


def cancel(task_id: str, repeat_for: float) -> Flow[CancelledTask]:
    send = Send("DELETE", _at(task_id))
    try:
        found = yield from exchange(send, repeat_for, marks_later=True)
    except _LaterError as later:
        # The first attempt had its effect, and only its answer was lost.
        if later.error.code != "task_already_finished":
            raise later.error from None
        found = yield from _read_task(task_id, 0, repeat_for)
    return cast(CancelledTask, found.value)


def quote_price(request: Request, repeat_for: float) -> Flow[Quote]:
    send = _with_json("POST", "/v1/videos/quotes", request)
    return cast(Quote, (yield from exchange(send, repeat_for)).value)


def upload(data: bytes, name: Optional[str], reuse: bool, repeat_for: float) -> Flow[File]:
    if reuse:
        earlier = yield from _upload_of(hashlib.sha256(data).hexdigest(), repeat_for)
        if earlier:
            return earlier
    path = f"/v1/files?{urlencode({'name': name})}" if name else "/v1/files"
    # The asynchronous client has one time limit for the sending of the whole body. The service waits
    # for ten minutes.
    held = min(570.0, len(data) / 32_000)
    send = Send("POST", path, {"Content-Type": "application/octet-stream"}, data, held)
    return cast(File, (yield from exchange(send, repeat_for)).value)


def _upload_of(sha256: str, repeat_for: float) -> Flow[Optional[File]]:
    query: Dict[str, str] = {"limit": "100"}
    while True:
        found = yield from page(query, repeat_for, "/v1/files")
        for file in found["data"]:
            if file["sha256"] == sha256 and _lives_on(file):
                return cast(File, file)
        if found["next"] is None:
            return None
        query["after"] = found["next"]


def _lives_on(file: File) -> bool:
    """A file must live until its task is sent, by default for up to 48 hours.

    Where files live for a few days only, half of their life is enough.
    """
    expires = file["expires_at"]
    return expires - time.time() >= min(172_800, (expires - file["created_at"]) / 2)


def _with_json(
    method: str, path: str, value: Request, headers: Optional[Mapping[str, str]] = None
) -> Send:
    body = json.dumps(value, allow_nan=False).encode()
    return Send(method, path, {**(headers or {}), "Content-Type": "application/json"}, body)


def _at(task_id: str) -> str:
    return f"{TASKS}/{quote(task_id, safe='')}"


def list_query(
    status: Optional[str],
    model: Optional[str],
    labels: Optional[Mapping[str, str]],
    created_after: Optional[int],
    created_before: Optional[int],
    page_size: int,
) -> Dict[str, str]:
    given: Dict[str, Any] = {
        "limit": page_size,
        "status": status,
        "model": model,
        "created_after": created_after,
        "created_before": created_before,
        **{f"label.{name}": value for name, value in (labels or {}).items()},
    }
    return {name: str(value) for name, value in given.items() if value is not None}
