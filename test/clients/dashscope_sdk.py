# Calls the studio through Alibaba's own Python client of DashScope. Prints what the client saw.
import json
import sys

import dashscope
from dashscope import VideoSynthesis

url, key = sys.argv[1:]
dashscope.api_key = key
dashscope.base_http_api_url = url + "/dashscope/api/v1"
quick = {"studio": {"render": "none"}}
image = "https://example.com/a.png"
video = "https://example.com/a.mp4"
seen = {}

created = VideoSynthesis.async_call(
    model="wan3.0-video", prompt="a calico cat", resolution="720P", ratio="16:9", duration=4, seed=7, **quick
)
seen["created"] = [created.status_code, created.output.task_status]
done = VideoSynthesis.wait(created)
seen["waited"] = [done.output.task_status, done.usage["duration"], done.usage["SR"], bool(done.output.video_url)]


def shape(model, **more):
    answer = VideoSynthesis.async_call(model=model, prompt="a calico cat", duration=5, **quick, **more)
    return answer.status_code


seen["shapes"] = [
    shape("wan2.2-t2v-plus", size="1280*720"),
    shape("wan2.5-i2v-preview", img_url=image, resolution="720P"),
    shape("wan2.2-kf2v-flash", first_frame_url=image, last_frame_url=image, resolution="720P"),
    shape("wan2.6-r2v", reference_urls=[image, video], size="1280*720"),
    shape("wan2.7-i2v", media=[{"type": "first_frame", "url": image}], resolution="720P"),
    shape("wan3.0-video", media=[{"type": "reference_image", "url": image}], resolution="720P"),
    shape("happyhorse-1.0-r2v", media=[{"type": "reference_image", "url": image}], ratio="9:16"),
    shape("kling/kling-v3-video-generation", mode="std", aspect_ratio="16:9"),
    shape("vidu/viduq3-turbo_text2video", size="1280*720", resolution="720P"),
    shape("MiniMax/MiniMax-H3", media=[{"type": "first_frame", "url": image}], resolution="720P"),
]
listed = VideoSynthesis.list(model_name="wan3.0-video", page_size=5)
seen["listed"] = [listed.output["total"], listed.output["data"][1]["task_id"] == created.output.task_id]
queued = VideoSynthesis.async_call(model="wan3.0-video", prompt="later", studio={"render": "none", "queue_s": 60})
seen["cancelled"] = [VideoSynthesis.cancel(queued).status_code, VideoSynthesis.fetch(queued).output.task_status]
late = VideoSynthesis.cancel(created)
seen["late"] = [late.status_code, late.code]
seen["unknown"] = VideoSynthesis.fetch("no-such-task").output.task_status
failed = VideoSynthesis.async_call(
    model="wan3.0-video", prompt="x", studio={"end": "failed", "code": "DataInspectionFailed"}
)
failed = VideoSynthesis.wait(failed)
seen["failed"] = [failed.status_code, failed.output.task_status, failed.output.code]
refused = VideoSynthesis.async_call(model="wan3.0-video", prompt="x", duration=99)
seen["refused"] = [refused.status_code, refused.code]
no_model = VideoSynthesis.async_call(model="wan9", prompt="x")
seen["no model"] = [no_model.status_code, no_model.code]
dashscope.api_key = "wrong"
stranger = VideoSynthesis.async_call(model="wan3.0-video", prompt="x")
seen["stranger"] = [stranger.status_code, stranger.code]
print(json.dumps(seen))
