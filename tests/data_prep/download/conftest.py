"""The server that downloads come from."""

import pytest

from tests.support.corpora.downloads import Server


@pytest.fixture
def server():
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()
