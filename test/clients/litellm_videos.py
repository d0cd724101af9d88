# Calls the studio through LiteLLM, in the name of one of its providers. Prints what LiteLLM saw.
import json
import sys
import time

import litellm

provider, url, key = sys.argv[1:]
models = {"minimax": "MiniMax-H3", "hosted_vllm": "studio-2.0"}
bases = {"minimax": url, "hosted_vllm": url + "/v1"}
access = {"api_base": bases[provider], "api_key": key, "custom_llm_provider": provider}
by_provider = {
    "minimax": {"resolution": "768P", "seconds": "6"},
    "hosted_vllm": {"seconds": "8", "seed": 7},
}


def until_ended(video_id):
    for _ in range(100):
        video = litellm.video_status(video_id=video_id, **access)
        if video.status not in ("queued", "in_progress"):
            return video
        time.sleep(0.1)


def code_of(act):
    try:
        act()
    except Exception as error:
        return error.status_code


def create(**over):
    fields = {"prompt": "a calico cat", "size": "1280x720", **by_provider[provider], **over}
    return litellm.video_generation(model=f"{provider}/{models[provider]}", **fields, **access)


video = create()
ended = until_ended(video.id)
listed = litellm.video_list(**access)
listed = listed["data"] if isinstance(listed, dict) else listed
unknown = "424010985738629" if provider == "minimax" else "video_none"
seen = {
    "created": video.status,
    "ended": [ended.status, ended.seconds, ended.model],
    "listed": len(listed),
    "unknown": code_of(lambda: litellm.video_status(video_id=unknown, **access)),
    "refused": code_of(lambda: create(seconds="99")),
}
print(json.dumps(seen))
