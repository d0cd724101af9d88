"""The asynchronous client."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, Mapping, Optional, Type, TypeVar, Union

import anyio
import httpx

from . import _flows
from ._download import Download
from ._errors import VideoError, naming_task
from ._flows import Flow, Request
from ._shared import no_limits, random_key, settings_of
from .api_types import CancelledTask, CreatedTask, File, Quote, Task

T = TypeVar("T")


async def _finished(work: asyncio.Task[None]) -> None:
    """Waits for the end of the work, however often the waiting is cancelled."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([work])
    work.result()


class AsyncVideoClient:
    """One method for each thing that the service does. For one event loop."""

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
        self._http = httpx.AsyncClient(**settings_of(base_url, api_key, timeout))
        # Links of videos need no key, and may lead to other servers.
        self._links = httpx.AsyncClient(timeout=timeout, limits=no_limits, follow_redirects=True)

    async def close(self) -> None:
        await self._http.aclose()
        await self._links.aclose()

    async def __aenter__(self) -> AsyncVideoClient:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def create(self, request: Request, *, idempotency_key: Optional[str] = None) -> CreatedTask:
        """Creates a task. Every repeat sends the same key, so there is one task.

        A `VideoError` has the key: a later create with it and the same request gives the same task.
        """
        key = idempotency_key or random_key()
        return await self._run(_flows.create(request, key, self._repeat_for))

    async def get(self, task_id: str, *, hold: float = 0) -> Task:
        """The task as it is now, or when it is final, but after `hold` seconds at the latest."""
        return await self._run(_flows.get(task_id, hold, self._repeat_for))

    async def wait(
        self, task_id: str, *, on_update: Optional[Callable[[Task], None]] = None, hold: float = 30
    ) -> Task:
        """Waits until the task is final, which is `succeeded` or `failed`."""
        while True:
            task = await self._run(_flows.wait_step(task_id, hold, self._repeat_for))
            if on_update:
                on_update(task)
            if _flows.is_final(task):
                return task

    async def create_and_wait(
        self,
        request: Request,
        *,
        idempotency_key: Optional[str] = None,
        on_created: Optional[Callable[[CreatedTask], None]] = None,
        on_update: Optional[Callable[[Task], None]] = None,
        hold: float = 30,
    ) -> Task:
        """Creates a task and waits until it is final. Cancelling this call cancels the task.

        A `VideoError` has the key, and after the create also the id of the task.
        """
        key = idempotency_key or random_key()
        # A create without a known answer may be charged, so it is never given up.
        creating = asyncio.ensure_future(self.create(request, idempotency_key=key))
        try:
            created = await asyncio.shield(creating)
            if on_created:
                on_created(created)
            with naming_task(created["id"], key):
                return await self.wait(created["id"], on_update=on_update, hold=hold)
        except asyncio.CancelledError:
            # anyio cancels every later await too.
            with anyio.CancelScope(shield=True):
                await _finished(asyncio.ensure_future(self._take_back(creating, request, key)))
            raise

    async def _take_back(
        self, creating: asyncio.Task[CreatedTask], request: Request, key: str
    ) -> None:
        """Cancels the task of a create that may be in progress, or that was cancelled itself."""
        await asyncio.wait([creating])
        again = creating.cancelled()
        created = await self.create(request, idempotency_key=key) if again else creating.result()
        with naming_task(created["id"], key):
            await self._cancel_if_unfinished(created["id"])

    async def list(
        self,
        *,
        status: Optional[str] = None,
        model: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        created_after: Optional[int] = None,
        created_before: Optional[int] = None,
        page_size: int = 100,
    ) -> AsyncIterator[Task]:
        """The tasks of the account, newest first. Pages are read when they are needed."""
        query = _flows.list_query(status, model, labels, created_after, created_before, page_size)
        while True:
            page = await self._run(_flows.page(query, self._repeat_for))
            for task in page["data"]:
                yield task
            if page["next"] is None:
                return
            query["after"] = page["next"]

    async def cancel(self, task_id: str) -> CancelledTask:
        """Asks for a cancellation. A task that has ended raises `task_already_finished`."""
        return await self._run(_flows.cancel(task_id, self._repeat_for))

    async def quote(self, request: Request) -> Quote:
        """The price and the plan of a task, without creating it."""
        return await self._run(_flows.quote_price(request, self._repeat_for))

    async def upload(self, data: bytes, *, name: Optional[str] = None, reuse: bool = False) -> File:
        """Uploads an image, a video or a sound. Its `id` is an input for creates.

        `reuse` returns an earlier upload of the same bytes, if there is one that lives for long enough.
        """
        return await self._run(_flows.upload(data, name, reuse, self._repeat_for))

    async def download(self, source: Union[Task, str]) -> AsyncIterator[bytes]:
        """The bytes of a finished task's video, or of any link of the service."""
        state = Download(source, self._repeat_for)
        while True:
            try:
                async with self._links.stream("GET", state.url, headers=state.headers()) as answer:
                    if state.is_complete(answer.status_code):
                        return
                    if answer.status_code >= 300:
                        raise state.refusal(answer.status_code, answer.headers, await answer.aread())
                    state.begin(answer.status_code, answer.headers)
                    async for chunk in answer.aiter_raw():
                        fresh = state.take(chunk)
                        if fresh:
                            yield fresh
                            # The time that the caller took for the chunk does not count.
                            state.patience.progressed()
                return
            except httpx.RequestError as error:
                await asyncio.sleep(state.patience.pause_after(_flows.no_answer(repr(error))))
            except VideoError as error:
                await asyncio.sleep(state.patience.pause_after(error))

    async def _cancel_if_unfinished(self, task_id: str) -> None:
        try:
            await self.cancel(task_id)
        except VideoError as error:
            if error.code != "task_already_finished":
                raise

    async def _run(self, flow: Flow[T]) -> T:
        reply: _flows.Reply = None
        while True:
            try:
                step = flow.send(reply)
            except StopIteration as end:
                value: T = end.value
                return value
            if isinstance(step, _flows.Send):
                reply = await self._send(step)
            else:
                await asyncio.sleep(step.seconds)
                reply = None

    async def _send(self, send: _flows.Send) -> _flows.Reply:
        limit = self._timeout + send.held
        ends = time.monotonic() + limit
        options: Dict[str, Any] = {"content": send.body, "headers": send.headers, "timeout": limit}
        body = b""
        try:
            async with self._http.stream(send.method, send.path, **options) as answer:
                async for part in answer.aiter_bytes():
                    body += part
                    # httpx limits each read, but not all reads together.
                    if time.monotonic() > ends:
                        raise httpx.ReadTimeout(f"the answer took more than {limit} s")
        except httpx.RequestError as error:
            return _flows.NoAnswer(repr(error))
        return _flows.Answer(answer.status_code, answer.headers, body)
