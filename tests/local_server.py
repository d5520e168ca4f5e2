"""A web server on this machine that can misbehave in the ways real ones do."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Serves `content` at every address; `asked` keeps the Range header of each request."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = content
        self.asked: list[str | None] = []
        self.ranges = True  # whether it can start in the middle
        self.status = 200  # of a plain answer
        self.lost = 0  # bytes at the end that never come
        self.wrong_span = False  # answers a range with another one
        self.tells_length = True
        self.silent = threading.Event()  # set: takes the call and says nothing, until the test is over
        self.over = threading.Event()

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/folder/{name}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers["Range"]
        server.asked.append(wanted)
        if server.silent.is_set():
            server.over.wait(30)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.ranges else 0
        size = len(server.content)
        if start >= size > 0:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start and server.status == 200 else server.status)
        if start:
            first = 0 if server.wrong_span else start
            self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        if server.tells_length:
            self.send_header("Content-Length", str(size - start))
        self.end_headers()
        self.wfile.write(server.content[start : size - server.lost])

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: standard error belongs to the test."""


@contextmanager
def serving(content: bytes) -> Iterator[Server]:
    with Server(content) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
