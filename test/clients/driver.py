"""Runs one call of a Python client, as test/clients/behaviours.ts asks, and prints what came of it
as JSON: python3 driver.py KIND CALL

The kinds differ in how a call is stopped: by Ctrl-C (sync), by the cancellation of its task (async),
by two cancellations (twice), by a time limit of asyncio (timeout), and by a scope of anyio (anyio).
"""

import asyncio
import base64
import hashlib
import json
import signal
import sys

import anyio
from video_generation_client import AsyncVideoClient, VideoClient, VideoError, verify_callback

kind, asked = sys.argv[1], json.loads(sys.argv[2])
call, args = asked["call"], asked["args"]
settings = {
    "base_url": asked["baseUrl"],
    "api_key": asked["apiKey"],
    "repeat_for": asked.get("repeatForMs", 120_000) / 1000,
    "timeout": 5,
}
stop_after = asked.get("stopAfterMs", 0) / 1000


def say(word):
    return lambda value: print(word, value["id"], file=sys.stderr, flush=True)


def started(client):
    """The call, as a value, an awaitable or an iterator."""
    if call == "create":
        return client.create(args["request"], idempotency_key=args.get("key"))
    if call == "get":
        return client.get(args["id"])
    if call == "wait":
        return client.wait(args["id"], on_update=say("update"), hold=2)
    if call == "createAndWait":
        return client.create_and_wait(
            args["request"], idempotency_key=args.get("key"), on_created=say("created"), hold=2
        )
    if call == "list":
        return client.list(labels=args["labels"], page_size=args["pageSize"])
    if call == "cancel":
        return client.cancel(args["id"])
    if call == "quote":
        return client.quote(args["request"])
    if call == "upload":
        options = {"name": args["name"], "reuse": args.get("reuse", False)}
        return client.upload(base64.b64decode(args["base64"]), **options)
    return client.download(args["url"])


def gathered(items):
    if call == "list":
        return [task["id"] for task in items]
    return hashlib.sha256(b"".join(items)).hexdigest()


def run_sync():
    if stop_after:
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, stop_after)
    with VideoClient(**settings) as client:
        result = started(client)
        return gathered(result) if call in ("list", "download") else result


async def run_async():
    async with AsyncVideoClient(**settings) as client:
        if call in ("list", "download"):
            return gathered([item async for item in started(client)])
        if stop_after and kind == "timeout":
            return await asyncio.wait_for(started(client), stop_after)
        if stop_after and kind == "anyio":
            with anyio.fail_after(stop_after):
                return await started(client)
        running = asyncio.ensure_future(started(client))
        if stop_after:
            loop = asyncio.get_running_loop()
            for later in (0, 0.001) if kind == "twice" else (0,):
                loop.call_later(stop_after + later, running.cancel)
        return await running


def value_of():
    if call == "verifyCallback":
        return verify_callback(args["body"], args["headers"], args["secret"])
    return run_sync() if kind == "sync" else asyncio.run(run_async())


try:
    said = {"value": value_of()}
except VideoError as error:
    fields = {"code": error.code, "param": error.param, "status": error.status}
    ids = {"taskId": error.task_id, "idempotencyKey": error.idempotency_key}
    said = {"error": {**fields, **ids, "requestId": error.request_id, "text": str(error)}}
except (KeyboardInterrupt, asyncio.CancelledError, TimeoutError, asyncio.TimeoutError):
    said = {"error": {"stopped": True}}
print(json.dumps(said))
