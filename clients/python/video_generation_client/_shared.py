"""Settings that both clients share."""

from __future__ import annotations

import os
import re
import secrets
from typing import Any, Dict, Optional

import httpx


def random_key() -> str:
    return secrets.token_hex(16)


def settings_of(
    base_url: Optional[str], api_key: Optional[str], timeout: float
) -> Dict[str, Any]:
    base_url = os.environ.get("VIDEO_BASE_URL") if base_url is None else base_url
    api_key = os.environ.get("VIDEO_API_KEY") if api_key is None else api_key
    if not base_url or not api_key:
        missing = [] if base_url else ["base_url (or VIDEO_BASE_URL)"]
        missing += [] if api_key else ["api_key (or VIDEO_API_KEY)"]
        raise ValueError(f"Missing: {' and '.join(missing)}.")
    # A wrong address would look like a service that does not answer.
    if not base_url.startswith(("http://", "https://")):
        raise ValueError("base_url must begin with http:// or https://")
    key = header_text("api_key", api_key)
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}
    return {
        "base_url": base_url.rstrip("/"),
        "headers": headers,
        "timeout": timeout,
        "limits": no_limits,
    }


# Each wait and each download holds a connection, and no create may wait behind them.
no_limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)


def header_text(name: str, text: str) -> str:
    """A wrong header would look like a service that does not answer. The error hides the text."""
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        raise ValueError(f"{name} may have printable ASCII characters only, and no spaces")
    return text
