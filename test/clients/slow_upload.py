"""Uploads to a server that takes no bytes for twice the time limit."""

import asyncio
import socket
import threading
import time

from video_generation_client import AsyncVideoClient, VideoClient

DATA = bytes(20_000_000)
ANSWER = b'HTTP/1.1 201 Created\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"id": "f"}'


def serve(server):
    while True:
        connection, _ = server.accept()
        time.sleep(2)
        received = 0
        while received < len(DATA):
            received += len(connection.recv(1_000_000))
        connection.sendall(ANSWER)
        connection.close()


async def upload(settings):
    async with AsyncVideoClient(**settings) as client:
        return await client.upload(DATA)


server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=[server], daemon=True).start()
address = f"http://127.0.0.1:{server.getsockname()[1]}"
settings = {"base_url": address, "api_key": "k", "timeout": 1, "repeat_for": 0}
assert asyncio.run(upload(settings)) == {"id": "f"}
with VideoClient(**settings) as client:
    assert client.upload(DATA) == {"id": "f"}
