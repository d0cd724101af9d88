# Creates equal videos through the official Python client of OpenAI, one after the other, with the
# repeats that the client makes by itself. Prints the id of each video, or the status of its refusal.
import json
import sys

from openai import APIStatusError, OpenAI

url, key, prompt, count = sys.argv[1:]
videos = OpenAI(api_key=key, base_url=url + "/v1").videos
seen = []
for _ in range(int(count)):
    try:
        seen.append(videos.create(model="studio-2.0", prompt=prompt, seconds="4").id)
    except APIStatusError as error:
        seen.append(error.status_code)
print(json.dumps(seen))
