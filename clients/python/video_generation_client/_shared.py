"""Settings that both clients share."""

from __future__ import annotations

import secrets
from typing import Any, Dict


def random_key() -> str:
    return secrets.token_hex(16)


def settings_of(base_url: str, api_key: str, timeout: float) -> Dict[str, Any]:
    # A wrong address would look like a service that does not answer.
    if not base_url.startswith(("http://", "https://")):
        raise ValueError("base_url must begin with http:// or https://")
    headers = {"Authorization": f"Bearer {api_key}", "Accept": "application/json"}
    return {"base_url": base_url.rstrip("/"), "headers": headers, "timeout": timeout}
