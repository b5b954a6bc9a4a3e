"""An application that knows no token: nginx tells it who calls. It must not be reachable past nginx."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


class App(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        # Values are UTF-8, percent-encoded where they are not plain ASCII.
        who = {name[7:].lower(): unquote(value) for name, value in self.headers.items() if name.startswith("X-Auth-")}
        body = json.dumps({"path": self.path, **who}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8081"))), App).serve_forever()
