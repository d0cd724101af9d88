# Makes a video through LiteLLM, which speaks DashScope to the studio. Prints what LiteLLM saw.
import json
import sys
import time

import litellm

url, key = sys.argv[1:]
to = {"api_base": url + "/dashscope", "api_key": key}
seen = {}
video = litellm.video_generation(
    model="dashscope/wan3.0-video", prompt="a calico cat", seconds="4", size="1280x720", **to
)
seen["created"] = video.status
while video.status in ("queued", "in_progress"):
    time.sleep(0.2)
    video = litellm.video_status(video.id, custom_llm_provider="dashscope", **to)
seen["done"] = video.status
content = litellm.video_content(video.id, custom_llm_provider="dashscope", **to)
seen["bytes"] = content[4:8].decode()
try:
    litellm.video_generation(model="dashscope/wan3.0-video", prompt="x", seconds="99", **to)
except Exception as error:
    seen["refused"] = error.status_code
print(json.dumps(seen))
