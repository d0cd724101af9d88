# Calls the service through the official Python clients of OpenAI and Ark. Prints what they saw.
import json
import sys

which, url, key = sys.argv[1:]
seen = {}
prompt = "through the client of " + which
if which == "openai":
    from openai import OpenAI, NotFoundError

    client = OpenAI(api_key=key, base_url=url + "/v1")
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154"
        "789c6364f84ff50f00038601805a34b56b0000000049454e44ae426082"
    )
    shots = [{"prompt": "a", "cut": 1}, {"prompt": "b", "cut": 2}]
    options = {"seed": 7, "camera": {"zoom": 2, "fixed": True}, "shots": shots}
    ids = []
    for seconds in ["4", "5", "6", "7", "8"]:
        video = client.videos.create(
            model="studio-2.0",
            prompt=prompt,
            seconds=seconds,
            size="1280x720",
            input_reference=("a.png", png, "image/png"),
            extra_body={"metadata": options},
        )
        ids.append(video.id)
    seen["created"] = [video.status, video.seconds, video.size, video.model]
    seen["listed"] = [video.id for video in client.videos.list(limit=2, order="asc")] == ids
    seen["read"] = client.videos.retrieve(ids[0]).id == ids[0]
    seen["deleted"] = client.videos.delete(ids[0]).deleted
    try:
        client.videos.retrieve("video_1")
    except NotFoundError as error:
        seen["unknown"] = error.code
else:
    from volcenginesdkarkruntime import Ark

    tasks = Ark(api_key=key, base_url=url + "/api/v3").content_generation.tasks
    content = [{"type": "text", "text": prompt}]
    created = tasks.create(model="studio-2.0", content=content, duration=5, resolution="480p")
    read = tasks.get(task_id=created.id)
    seen["read"] = [read.id == created.id, read.status, read.error]
    page = tasks.list(page_num=1, page_size=1)
    some = tasks.list(task_ids=[created.id], model="studio-2.0", status="queued")
    seen["listed"] = [type(page).__name__, type(page.items[0]).__name__, len(page.items), page.total >= 1]
    seen["some"] = [[task.id == created.id for task in some.items], some.total]
    seen["none"] = [tasks.list(status="succeeded", task_ids=[created.id]).items]
    tasks.delete(task_id=created.id)
    try:
        tasks.create(model="studio-2.0", content=content, duration=5, priority=1)
    except Exception as error:
        seen["refused"] = [type(error).__name__, error.code, error.param]
print(json.dumps(seen))
