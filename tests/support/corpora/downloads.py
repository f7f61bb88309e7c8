"""What tests of downloading share: small archives, a server on this machine, refusals."""

import contextlib
import hashlib
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from data_prep.download.archives import Archive
from data_prep.download.fetch import install
from tests.support.errors import user_error


def zip_bytes(members) -> bytes:
    """A zip archive, always of the same bytes; a member's name may also be a ZipInfo."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name) if isinstance(name, str) else name, text)
    return buffer.getvalue()


MEMBERS = {
    "trees/train.txt": "(3 (2 we) (3 smile))\n" * 40,
    "trees/dev.txt": "(1 (2 they) (1 frown))\n",
    "__MACOSX/trees/._train.txt": "resource fork",
}
BYTES = zip_bytes(MEMBERS)


class Server:
    """Serves `body` as `name`.

    Attributes:
      ranges: "yes", "no" (ignored), "shifted" (wrong first byte).
      respond: answers every request instead, if it is set: a function of the request's handler.
    """

    def __init__(self):
        self.name, self.body = "small.zip", BYTES
        self.ranges, self.cut, self.has_length = "yes", None, True
        self.respond = None
        self.asked = []  # the Range header of each request
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.headers["Range"])
                with contextlib.suppress(OSError):  # the client has gone
                    (server.respond or server.answer)(self)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/mirror/"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, handler):
        asked = handler.headers["Range"]
        start = int(asked[len("bytes=") : -1]) if asked and self.ranges != "no" else 0
        if handler.path != f"/mirror/{self.name}":
            return handler.send_error(404)
        if start and start >= len(self.body):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(self.body)}")
            handler.send_header("Content-Length", "0")
            return handler.end_headers()
        first = 0 if self.ranges == "shifted" else start
        body = self.body[first:]
        handler.send_response(206 if start else 200)
        if start:
            size = len(self.body)
            handler.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        if self.has_length:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: self.cut])


def pinned(data: bytes = BYTES, **fields) -> Archive:
    digest = hashlib.sha256(data).hexdigest()
    return Archive("https://home.example/small.zip", "sst", len(data), digest, **fields)


def unpinned(**fields) -> Archive:
    return Archive("https://home.example/small.zip", "sst", **fields)


def archive_file(tmp_path):
    return tmp_path / "archives" / "small.zip"


def place_by_hand(tmp_path, data: bytes):
    archive_file(tmp_path).parent.mkdir(parents=True, exist_ok=True)
    archive_file(tmp_path).write_bytes(data)


def leave_part(tmp_path, data: bytes):
    """Leaves what an interrupted download of the archive keeps."""
    place_by_hand(tmp_path, data)
    archive_file(tmp_path).rename(tmp_path / "archives" / "small.zip.part")


def files(folder):
    """The paths of all files below `folder`, hidden ones included."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def message(archive, tmp_path, base_url=None) -> str:
    """The one line of the UserError that `install` ends with."""
    return user_error(install, archive, tmp_path, base_url)
