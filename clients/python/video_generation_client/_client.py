"""The synchronous client."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Type, TypeVar, Union

import httpx

from . import _flows
from ._download import Download
from ._errors import VideoError, naming_task
from ._flows import Flow, Request
from ._shared import no_limits, random_key, settings_of
from .api_types import CancelledTask, CreatedTask, File, Quote, Task

T = TypeVar("T")


class VideoClient:
    """One method for each thing that the service does. Safe to use from several threads."""

    def __init__(
        self,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        repeat_for: float = 120,
        timeout: float = 30,
    ) -> None:
        """Without the arguments, VIDEO_BASE_URL and VIDEO_API_KEY of the environment count."""
        self._repeat_for = repeat_for
        self._timeout = timeout
        self._http = httpx.Client(**settings_of(base_url, api_key, timeout))
        # Links of videos need no key, and may lead to other servers.
        self._links = httpx.Client(timeout=timeout, limits=no_limits, follow_redirects=True)

    def close(self) -> None:
        self._http.close()
        self._links.close()

    def __enter__(self) -> VideoClient:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def create(self, request: Request, *, idempotency_key: Optional[str] = None) -> CreatedTask:
        """Creates a task. Every repeat sends the same key, so there is one task.

        A `VideoError` has the key: a later create with it and the same request gives the same task.
        """
        key = idempotency_key or random_key()
        return self._run(_flows.create(request, key, self._repeat_for))

    def get(self, task_id: str, *, hold: float = 0) -> Task:
        """The task as it is now, or when it is final, but after `hold` seconds at the latest."""
        return self._run(_flows.get(task_id, hold, self._repeat_for))

    def wait(
        self, task_id: str, *, on_update: Optional[Callable[[Task], None]] = None, hold: float = 30
    ) -> Task:
        """Waits until the task is final, which is `succeeded` or `failed`."""
        while True:
            task = self._run(_flows.wait_step(task_id, hold, self._repeat_for))
            if on_update:
                on_update(task)
            if _flows.is_final(task):
                return task

    def create_and_wait(
        self,
        request: Request,
        *,
        idempotency_key: Optional[str] = None,
        on_created: Optional[Callable[[CreatedTask], None]] = None,
        on_update: Optional[Callable[[Task], None]] = None,
        hold: float = 30,
    ) -> Task:
        """Creates a task and waits until it is final. Ctrl-C cancels the task.

        A `VideoError` has the key, and after the create also the id of the task.
        """
        key = idempotency_key or random_key()
        try:
            created = self.create(request, idempotency_key=key)
        except KeyboardInterrupt:
            # The service may have the task. The same key tells its id.
            task_id = self.create(request, idempotency_key=key)["id"]
            with naming_task(task_id, key):
                self._cancel_if_unfinished(task_id)
            raise
        task_id = created["id"]
        try:
            if on_created:
                on_created(created)
            with naming_task(task_id, key):
                return self.wait(task_id, on_update=on_update, hold=hold)
        except KeyboardInterrupt:
            with naming_task(task_id, key):
                self._cancel_if_unfinished(task_id)
            raise

    def list(
        self,
        *,
        status: Optional[str] = None,
        model: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        created_after: Optional[int] = None,
        created_before: Optional[int] = None,
        page_size: int = 100,
    ) -> Iterator[Task]:
        """The tasks of the account, newest first. Pages are read when they are needed."""
        query = _flows.list_query(status, model, labels, created_after, created_before, page_size)
        while True:
            page = self._run(_flows.page(query, self._repeat_for))
            yield from page["data"]
            if page["next"] is None:
                return
            query["after"] = page["next"]

    def cancel(self, task_id: str) -> CancelledTask:
        """Asks for a cancellation. A task that has ended raises `task_already_finished`."""
        return self._run(_flows.cancel(task_id, self._repeat_for))

    def quote(self, request: Request) -> Quote:
        """The price and the plan of a task, without creating it."""
        return self._run(_flows.quote_price(request, self._repeat_for))

    def upload(self, data: bytes, *, name: Optional[str] = None, reuse: bool = False) -> File:
        """Uploads an image, a video or a sound. Its `id` is an input for creates.

        `reuse` returns an earlier upload of the same bytes, if there is one that lives for long enough.
        """
        return self._run(_flows.upload(data, name, reuse, self._repeat_for))

    def download(self, source: Union[Task, str]) -> Iterator[bytes]:
        """The bytes of a finished task's video, or of any link of the service."""
        state = Download(source, self._repeat_for)
        while True:
            try:
                with self._links.stream("GET", state.url, headers=state.headers()) as answer:
                    if state.is_complete(answer.status_code):
                        return
                    if answer.status_code >= 300:
                        raise state.refusal(answer.status_code, answer.headers, answer.read())
                    state.begin(answer.status_code, answer.headers)
                    for chunk in answer.iter_raw():
                        fresh = state.take(chunk)
                        if fresh:
                            yield fresh
                            # The time that the caller took for the chunk does not count.
                            state.patience.progressed()
                return
            except httpx.RequestError as error:
                time.sleep(state.patience.pause_after(_flows.no_answer(repr(error))))
            except VideoError as error:
                time.sleep(state.patience.pause_after(error))

    def _cancel_if_unfinished(self, task_id: str) -> None:
        try:
            self.cancel(task_id)
        except VideoError as error:
            if error.code != "task_already_finished":
                raise

    def _run(self, flow: Flow[T]) -> T:
        reply: _flows.Reply = None
        while True:
            try:
                step = flow.send(reply)
            except StopIteration as end:
                value: T = end.value
                return value
            if isinstance(step, _flows.Send):
                reply = self._send(step)
            else:
                time.sleep(step.seconds)
                reply = None

    def _send(self, send: _flows.Send) -> _flows.Reply:
        limit = self._timeout + send.held
        ends = time.monotonic() + limit
        options: Dict[str, Any] = {"content": send.body, "headers": send.headers, "timeout": limit}
        body = b""
        try:
            with self._http.stream(send.method, send.path, **options) as answer:
                for part in answer.iter_bytes():
                    body += part
                    # httpx limits each read, but not all reads together.
                    if time.monotonic() > ends:
                        raise httpx.ReadTimeout(f"the answer took more than {limit} s")
        except httpx.RequestError as error:
            return _flows.NoAnswer(repr(error))
        return _flows.Answer(answer.status_code, answer.headers, body)
