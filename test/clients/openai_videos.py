# Calls the studio through the official Python client of OpenAI. Prints what the client saw.
import json
import sys

from openai import BadRequestError, NotFoundError, OpenAI

url, key = sys.argv[1:]
videos = OpenAI(api_key=key, base_url=url + "/v1").videos
quick = {"studio": {"render": "none"}}
png = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154"
    "789c6364f84ff50f00038601805a34b56b0000000049454e44ae426082"
)
common = {"model": "studio-2.0", "prompt": "a calico cat", "size": "1280x720"}
seen = {}
video = videos.create_and_poll(
    **common,
    seconds="8",
    input_reference=("a.png", png, "image/png"),
    extra_body={"studio": json.dumps(quick["studio"])},
)
seen["polled"] = [video.status, video.seconds, video.size, video.model, video.error]
seen["bytes"] = videos.download_content(video.id).read()[4:8].decode()
by_address = videos.create(
    **common,
    seconds="4",
    extra_body={
        "input_reference": {"image_url": "https://example.com/a.png"},
        "studio": json.dumps(quick["studio"]),
    },
)
ids = [video.id, by_address.id]
seen["listed"] = [video.id for video in videos.list(limit=1, order="asc")] == ids
seen["read"] = videos.retrieve(ids[1]).prompt
seen["deleted"] = videos.delete(ids[0]).deleted
try:
    videos.retrieve(ids[0])
except NotFoundError as error:
    seen["unknown"] = error.code
try:
    videos.create(model="studio-2.0", prompt="a calico cat", size="8x8")
except BadRequestError as error:
    seen["refused"] = [error.code, error.param, error.type]
print(json.dumps(seen))
