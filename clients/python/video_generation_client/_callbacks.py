"""Verifies callbacks as Standard Webhooks defines them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Mapping, Sequence, Union, cast

from ._errors import VideoError
from .api_types import Task


def verify_callback(
    body: Union[str, bytes],
    headers: Mapping[str, str],
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
) -> Task:
    """The task of a callback. `body` is the body as received, and `secrets` the `whsec_…` of the
    account, or several while a secret is being replaced. Raises `invalid_callback` otherwise.
    A webhook also gets its tests, whose `object` is `webhook.test`, and the alerts that it asks
    for, which have a `type`: neither is a task.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id = given.get("webhook-id", "")
    timestamp = given.get("webhook-timestamp", "")
    if not message_id or not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
        raise _invalid("The callback has no id or no timestamp.")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise _invalid("The timestamp of the callback is too far from this clock.")
    data = body.encode() if isinstance(body, str) else body
    signed = _bytes(f"{message_id}.{timestamp}.") + data
    signatures = given.get("webhook-signature", "").split(" ")
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        wanted = "v1," + _signature(signed, secret)
        if any(hmac.compare_digest(wanted.encode(), _bytes(one)) for one in signatures):
            return cast(Task, json.loads(data))
    raise _invalid("No signature of the callback is correct.")


def _bytes(header: str) -> bytes:
    """Some servers decode the bytes of a header that is no text into surrogates."""
    return header.encode("utf-8", "surrogateescape")


def _signature(signed: bytes, secret: str) -> str:
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if not key:
        raise _invalid("The secret must be a whsec_… in base64.")
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def _invalid(message: str) -> VideoError:
    return VideoError(message, status=0, code="invalid_callback")
