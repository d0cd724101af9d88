"""Builds the package for pip with the standard library alone (PEP 517).

A wheel is a zip file: the modules, and three files that describe them.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional

HERE = Path(__file__).parent
PACKAGE = "video_generation_client"


def _said(name: str) -> str:
    """A value of pyproject.toml; Python 3.9 has no reader of TOML."""
    text = (HERE / "pyproject.toml").read_text("utf-8")
    found = re.search(rf'^{name} = "(.*)"$', text, re.MULTILINE)
    if not found:
        raise ValueError(f"pyproject.toml does not state {name}")
    return found.group(1)


def _dependencies() -> List[str]:
    text = (HERE / "pyproject.toml").read_text("utf-8")
    found = re.search(r"^dependencies = \[(.*)\]$", text, re.MULTILINE)
    return re.findall(r'"([^"]+)"', found.group(1)) if found else []


def _metadata() -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {_said('name')}",
        f"Version: {_said('version')}",
        f"Summary: {_said('description')}",
        f"Requires-Python: {_said('requires-python')}",
        *(f"Requires-Dist: {dependency}" for dependency in _dependencies()),
    ]
    return "\n".join(lines) + "\n"


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    stem = f"{PACKAGE}-{_said('version')}"
    info = f"{stem}.dist-info"
    files = {
        f"{PACKAGE}/{path.name}": path.read_bytes()
        for path in sorted((HERE / PACKAGE).iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    }
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return wheel


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
