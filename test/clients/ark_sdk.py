"""Calls the studio with the provider's official SDK and prints the results.

The arguments are the studio's address and key. The output is one JSON object, which ark-sdk.test.ts checks.
"""

import json
import sys
import time

from volcenginesdkarkruntime import Ark
from volcenginesdkarkruntime._exceptions import ArkAPIError

url, key = sys.argv[1:]
client = Ark(base_url=f"{url}/api/v3", api_key=key)
tasks = client.content_generation.tasks
prompt = [{"type": "text", "text": "a test card"}]


def create(script=None, **order):
    studio = {"render": "none", **(script or {})}
    order = {"model": "studio-2.0", "content": prompt, **order}
    return tasks.create(**order, extra_body={"studio": studio})


def finished(task_id):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        task = tasks.get(task_id=task_id)
        if task.status not in ("queued", "running"):
            return task
        time.sleep(0.05)
    raise TimeoutError(task_id)


def fault(call):
    """Returns the class and the fields of the exception that a refused call raises. None if it succeeds."""
    try:
        call()
    except ArkAPIError as error:
        seen = {name: getattr(error, name, None) for name in ("status_code", "code", "param", "type")}
        response = getattr(error, "response", None)
        answered = response is not None and error.request_id in (
            response.headers.get("x-request-id"),
            response.request.headers.get("x-client-request-id"),
        )
        return {"class": type(error).__name__, "has_request_id": answered, **seen}
    return None


def full_order():
    made = create(
        resolution="480p", ratio="9:16", duration=6, seed=77, priority=3, watermark=True,
        generate_audio=False, return_last_frame=True, safety_identifier="someone",
        service_tier="default", execution_expires_after=7200,
    )
    task = finished(made.id)
    return {
        "id_type": type(made).__name__,
        "task_type": type(task).__name__,
        "same_id": task.id == made.id,
        "content_type": type(task.content).__name__,
        "has_video": task.content.video_url.startswith(url),
        "has_last_frame": task.content.last_frame_url.startswith(url),
        "usage": task.usage.to_dict(),
        "error": task.error,
        "said": {name: getattr(task, name) for name in (
            "model", "status", "resolution", "ratio", "duration", "seed", "priority", "draft",
            "framespersecond", "generate_audio", "safety_identifier", "service_tier",
            "execution_expires_after",
        )},
        "times": [type(task.created_at).__name__, task.updated_at >= task.created_at],
    }


def failed_order():
    made = create({"end": "failed", "code": "OutputVideoSensitiveContentDetected", "message": "Seen."})
    task = finished(made.id)
    return {"status": task.status, "class": type(task.error).__name__, **task.error.to_dict()}


def listing():
    ids = [create(model="studio-2.0-fast").id for _ in range(3)]
    for task_id in ids:
        finished(task_id)
    page = tasks.list(page_num=2, page_size=2, model="studio-2.0-fast", status="succeeded")
    some = tasks.list(task_ids=ids[:2])
    return {
        "type": type(page).__name__,
        "page": [task.id for task in page.items] == [ids[0]],
        "total": page.total,
        "item_type": type(page.items[0]).__name__,
        "some": sorted(task.id for task in some.items) == sorted(ids[:2]),
        "none": tasks.list(status="expired").total,
    }


def deleting():
    queued = create({"queue_s": 1000}).id
    running = create({"run_s": 1000}).id
    done = create().id
    finished(done)
    tasks.delete(task_id=queued)
    tasks.delete(task_id=done)
    return {
        "queued": tasks.get(task_id=queued).status,
        "running": fault(lambda: tasks.delete(task_id=running)),
        "done": fault(lambda: tasks.get(task_id=done)),
    }


def faults():
    stranger = Ark(base_url=f"{url}/api/v3", api_key="wrong", max_retries=0)
    return {
        "parameter": fault(lambda: create(duration=99)),
        "missing": fault(lambda: create(content=[])),
        "model": fault(lambda: create(model="ep-unknown")),
        "key": fault(lambda: stranger.content_generation.tasks.list()),
        "forbidden": fault(lambda: create({"create": {"status": 403, "code": "AccountOverdueError"}})),
        "limit": fault(lambda: create({"create": {"status": 429, "times": 9}})),
        "server": fault(lambda: create({"create": {"status": 500, "times": 9}})),
    }


def retries():
    """The SDK sends a create again if the reply is lost. With an Idempotency-Key there is still only one job."""
    def sent_as(name, fault, **headers):
        return tasks.create(
            model="studio-2.0",
            content=prompt,
            extra_body={"studio": {"render": "none", "create": fault}},
            # The SDK would set a new request id for each attempt. The test finds the jobs by this id.
            extra_headers={"X-Client-Request-Id": name, **headers},
        )

    sent_as("sdk-without-key", {"lose_reply": True})
    sent_as("sdk-with-key", {"lose_reply": True}, **{"Idempotency-Key": "sdk"})
    return {"after_overload": bool(sent_as("sdk-overload", {"status": 503}).id)}


print(json.dumps({
    "full": full_order(),
    "failed": failed_order(),
    "listing": listing(),
    "deleting": deleting(),
    "faults": faults(),
    "retries": retries(),
}))
