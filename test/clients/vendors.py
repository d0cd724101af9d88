# Calls the service through Python clients of other services. Prints what they saw:
# python3 vendors.py openai|ark|litellm|creates-openai|creates-ark|creates-litellm SETTINGS
import base64
import hashlib
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

what, text = sys.argv[1:]
settings = json.loads(text)
url, key, mark = settings["url"], settings["apiKey"], settings["mark"]
quick = {"metadata": {"studio": {"render": "none"}}}
sized = {"model": "studio-2.0", "seconds": "5", "size": "1280x720"}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def until_done(read, ended):
    for _ in range(240):
        task = read()
        if task.status in ended:
            return task
        time.sleep(0.5)
    raise TimeoutError(task)


def openai(retries=2):
    from openai import OpenAI

    return OpenAI(api_key=key, base_url=url + "/v1", max_retries=retries).videos


def ark(retries=2):
    from volcenginesdkarkruntime import Ark

    client = Ark(api_key=key, base_url=url + "/api/v3", max_retries=retries)
    return client.content_generation.tasks


def use_openai():
    videos = openai()
    picture = ("a.png", base64.b64decode(settings["picture"]), "image/png")
    video = videos.create_and_poll(prompt=mark, input_reference=picture, **sized)
    ids = [one.id for one in videos.list(limit=2)]
    return {
        "id": video.id,
        "status": video.status,
        "seconds": video.seconds,
        "sha256": sha256(videos.download_content(video.id).read()),
        "ids": ids,
        "deleted": videos.delete(video.id).deleted,
    }


def use_ark():
    tasks = ark()
    content = [{"type": "text", "text": mark}]
    made = tasks.create(model="studio-2.0", content=content, duration=5, ratio="16:9")
    task = until_done(lambda: tasks.get(task_id=made.id), ["succeeded", "failed"])
    listed = [one.id for one in tasks.list(page_num=1, page_size=500).items]
    return {"id": task.id, "status": task.status, "link": task.content.video_url, "listed": listed}


def use_litellm():
    import litellm

    litellm.suppress_debug_info = True
    seen = {}
    for provider, base in [
        ("openai", url + "/v1"),
        ("hosted_vllm", url + "/v1"),
        ("volcengine", url),
    ]:
        access = {"api_base": base, "api_key": key, "custom_llm_provider": provider}
        made = litellm.video_generation(
            model=provider + "/studio-2.0",
            prompt=mark + " " + provider,
            seconds="5",
            size="1280x720",
            api_base=base,
            api_key=key,
        )
        ended = ["completed", "failed", "succeeded"]
        video = until_done(lambda: litellm.video_status(video_id=made.id, **access), ended)
        content = litellm.video_content(video_id=made.id, **access)
        seen[provider] = [video.status, sha256(content)]
    return seen


def many(create):
    def one(n):
        return create(mark + " " + str(n))

    with ThreadPoolExecutor(8) as pool:
        return {"ids": list(pool.map(one, range(settings["creates"])))}


def creates_openai():
    videos = openai(12)
    return many(lambda prompt: videos.create(prompt=prompt, extra_body=quick, **sized).id)


# The client of Ark counts no repeats, so a lost answer needs a key.
def creates_ark():
    tasks = ark(12)

    def create(prompt):
        return tasks.create(
            model="studio-2.0",
            content=[{"type": "text", "text": prompt}],
            duration=5,
            extra_body={"studio": {"render": "none"}},
            extra_headers={"Idempotency-Key": prompt.replace(" ", "-")},
        ).id

    return many(create)


# LiteLLM repeats no create of a video, so its caller does, with a key.
def creates_litellm():
    import litellm
    from litellm.types.videos.utils import extract_original_video_id

    litellm.suppress_debug_info = True
    sent = [0]

    def create(prompt):
        provider, base = [("openai", url + "/v1"), ("volcengine", url)][int(prompt[-1]) % 2]
        for _ in range(12):
            sent[0] += 1
            try:
                made = litellm.video_generation(
                    model=provider + "/studio-2.0",
                    prompt=prompt,
                    seconds="5",
                    size="1280x720",
                    api_base=base,
                    api_key=key,
                    num_retries=3,
                    extra_headers={"Idempotency-Key": prompt.replace(" ", "-")},
                )
                return extract_original_video_id(made.id)
            except Exception as error:
                last = error
                time.sleep(0.3)
        raise last

    return {**many(create), "sent": sent[0]}


acts = {
    "openai": use_openai,
    "ark": use_ark,
    "litellm": use_litellm,
    "creates-openai": creates_openai,
    "creates-ark": creates_ark,
    "creates-litellm": creates_litellm,
}
print(json.dumps(acts[what]()))
