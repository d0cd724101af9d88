"""Builds the package for pip with the standard library alone (PEP 517).

A wheel is a zip file: the modules, the license, and three files that describe them. A source
distribution is a tar file: this folder, the license, and one file that describes them. Equal
sources give equal bytes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import tarfile
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
        "License: MIT",
        f"Requires-Python: {_said('requires-python')}",
        *(f"Requires-Dist: {dependency}" for dependency in _dependencies()),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text("utf-8")


def _license() -> bytes:
    """That of the whole project; a source distribution has it in this folder."""
    places = (HERE / "LICENSE", HERE.parent.parent / "LICENSE")
    return next(place for place in places if place.exists()).read_bytes()


def _modules() -> Dict[str, bytes]:
    return {
        f"{PACKAGE}/{path.name}": path.read_bytes()
        for path in sorted((HERE / PACKAGE).iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    }


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    stem = f"{PACKAGE}-{_said('version')}"
    info = f"{stem}.dist-info"
    files = _modules()
    files[f"{info}/LICENSE"] = _license()
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w") as archive:
        for name, data in files.items():
            # The first day that a zip file can name.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    stem = f"{PACKAGE}-{_said('version')}"
    described = ["README.md", "build_wheel.py", "pyproject.toml"]
    files = {name: (HERE / name).read_bytes() for name in described}
    files.update(_modules())
    files["LICENSE"] = _license()
    files["PKG-INFO"] = _metadata().encode()
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    packed = gzip.compress(plain.getvalue(), mtime=0)
    (Path(sdist_directory) / f"{stem}.tar.gz").write_bytes(packed)
    return f"{stem}.tar.gz"


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
