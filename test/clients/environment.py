"""Makes clients with and without arguments, and compares what they took from the environment."""

import os

from video_generation_client import AsyncVideoClient, VideoClient

names = ("VIDEO_BASE_URL", "VIDEO_API_KEY")


def access_of(client):
    http = client._http
    return (str(http.base_url), http.headers["authorization"])


def failure(make):
    for name in names:
        os.environ.pop(name, None)
    try:
        make()
    except ValueError as error:
        return str(error)


if __name__ == "__main__":
    for kind in (VideoClient, AsyncVideoClient):
        os.environ.update(VIDEO_BASE_URL="http://environment", VIDEO_API_KEY="its-key")
        assert access_of(kind()) == ("http://environment", "Bearer its-key")
        assert access_of(kind("http://given", "key")) == ("http://given", "Bearer key")
        assert access_of(kind(api_key="key")) == ("http://environment", "Bearer key")
        both = "Missing: base_url (or VIDEO_BASE_URL) and api_key (or VIDEO_API_KEY)."
        assert failure(kind) == both, failure(kind)
        assert failure(lambda: kind("http://given")) == "Missing: api_key (or VIDEO_API_KEY)."
        assert failure(lambda: kind(api_key="key")) == "Missing: base_url (or VIDEO_BASE_URL)."
        os.environ.update(VIDEO_API_KEY="its-key")
        try:
            kind("http://given", "")
            raise AssertionError("an empty key was accepted")
        except ValueError as error:
            assert str(error) == "Missing: api_key (or VIDEO_API_KEY)."
