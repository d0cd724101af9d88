"""Creates a video task and waits for its end. Needs Python 3.9 and nothing else.

    API_KEY=… python3 examples/create_and_wait.py "A paper boat on a rainy street"

BASE_URL is the address of the service; the default is http://127.0.0.1:8080. If CALLBACK_URL is
set, the service calls this address when the task has finished. With the IDEMPOTENCY_KEY of an earlier
run, the program continues with its task.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

BASE_URL = os.environ.get("BASE_URL", "http://127.0.0.1:8080")
TASKS = f"{BASE_URL}/v1/videos/generations"


class Refused(Exception):
    """The service refused the call, or did not answer any of the tries."""


def call(url, body=None, headers=None):
    """Makes a call, with up to six tries if there is no answer, or a 408, 429 or 5xx."""
    request = urllib.request.Request(
        url,
        data=None if body is None else json.dumps(body).encode(),
        headers=headers or {},
    )
    # A redirect does not get the key.
    request.add_unredirected_header("Authorization", f"Bearer {os.environ['API_KEY']}")
    for tries in range(6):
        pause = 2**tries
        try:
            # Longer than the minute for which `wait_for` lets the service wait.
            with urllib.request.urlopen(request, timeout=90) as response:
                return json.load(response)
        except urllib.error.HTTPError as answer:
            if answer.code not in (408, 429) and answer.code < 500:
                error = json.load(answer)["error"]
                raise Refused(f"{error['code']}: {error['message']}") from None
            after = answer.headers.get("Retry-After", "")
            pause = int(after) if after.isdigit() else pause
        except (OSError, http.client.HTTPException):
            pass
        if tries < 5:
            time.sleep(pause)
    raise Refused("The service does not answer.")


def create_task(prompt):
    metadata = {}
    if "CALLBACK_URL" in os.environ:
        metadata["callback_url"] = os.environ["CALLBACK_URL"]
    order = {
        "model": os.environ.get("MODEL", "studio-2.0"),
        "prompt": prompt,
        "resolution": "480p",
        "ratio": "16:9",
        "duration": 5,
        "metadata": metadata,
    }
    # All tries send the same key, so the service creates and charges only one task.
    key = os.environ.get("IDEMPOTENCY_KEY") or str(uuid.uuid4())
    print(f"IDEMPOTENCY_KEY={key}", file=sys.stderr)
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    return call(TASKS, order, headers)["id"]


def wait_for(task_id):
    while True:
        # The service answers when the task has finished, or after a minute.
        task = call(f"{TASKS}/{task_id}", headers={"Prefer": "wait=60"})
        if task["status"] in ("succeeded", "failed"):
            return task
        print(f"{task_id}: {task['status']}", file=sys.stderr)
        # The service answers at once if it holds too many reads.
        time.sleep(1)


def main():
    if "API_KEY" not in os.environ:
        sys.exit("Set API_KEY: `npm start` prints one.")
    prompt = sys.argv[1] if len(sys.argv) > 1 else "A paper boat on a rainy street"
    try:
        task_id = create_task(prompt)
        print(f"{task_id}: created", file=sys.stderr)
        task = wait_for(task_id)
    except Refused as refused:
        sys.exit(str(refused))
    if task["status"] == "failed":
        sys.exit(f"{task['error']['code']}: {task['error']['message']}")
    billing = task["billing"]
    print(f"{task['duration']} s for {billing['charged']} {billing['currency']}", file=sys.stderr)
    print(task["video_url"])


if __name__ == "__main__":
    main()
