"""The client of the video generation service."""

from . import api_types
from ._async_client import AsyncVideoClient
from ._callbacks import verify_callback
from ._client import VideoClient
from ._errors import VideoError
from ._flows import is_final

__all__ = [
    "AsyncVideoClient",
    "VideoClient",
    "VideoError",
    "api_types",
    "is_final",
    "verify_callback",
]
