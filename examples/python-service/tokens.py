"""Who calls: offline with the key set, or by asking the service."""

import json
import os
import threading
import time
import urllib.parse
import urllib.request
from base64 import b64encode

import jwt

AUTH_URL = os.environ.get("AUTH_URL", "http://localhost:3000")
ISSUER = os.environ.get("AUTH_ISSUER", AUTH_URL)
AUDIENCE = os.environ.get("AUTH_AUDIENCE", "portal")
CLIENT = f"{os.environ.get('AUTH_CLIENT_ID', '')}:{os.environ.get('AUTH_CLIENT_SECRET', '')}"
TIMEOUT_SECONDS = 3


class Refused(Exception):
    """The token is not a valid access token: answer 401."""


class Unavailable(Exception):
    """The token cannot be checked: answer 503, never guess."""


class KeySet:
    """The public keys of the service. `PyJWKClient` would ask for them again for each token with an unknown kid."""

    LIFE_SECONDS = 300
    PAUSE_SECONDS = 1

    def __init__(self, url: str):
        self.url = url
        self.lock = threading.Lock()
        self.keys, self.failure = {}, None
        self.fetched = self.tried = float("-inf")

    def key(self, kid: str):
        """The key of a kid. Refused: the token is forged or very old. Unavailable: the keys cannot be read."""
        with self.lock:
            now = time.monotonic()
            if kid in self.keys and now - self.fetched < self.LIFE_SECONDS:
                return self.keys[kid]
            if now - self.tried >= self.PAUSE_SECONDS:
                self.tried = now
                try:
                    self.keys, self.fetched, self.failure = self.fetch(), now, None
                except (OSError, ValueError, jwt.PyJWTError) as error:
                    self.failure = error
            if self.failure is not None:
                raise Unavailable from self.failure
            if kid not in self.keys:
                raise Refused
            return self.keys[kid]

    def fetch(self) -> dict:
        with urllib.request.urlopen(self.url, timeout=TIMEOUT_SECONDS) as response:
            return {one.key_id: one.key for one in jwt.PyJWKSet.from_dict(json.load(response)).keys}


KEYS = KeySet(f"{AUTH_URL}/.well-known/jwks.json")


def check(token: str) -> dict:
    """The claims of an access token, without asking the service. A sign-out counts when the token expires."""
    try:
        header = jwt.get_unverified_header(token)
        # The algorithm is a constant of this program. A token that names another one, or none, is refused.
        claims = jwt.decode(
            token,
            KEYS.key(header.get("kid", "")),
            algorithms=["ES256"],
            issuer=ISSUER,
            audience=AUDIENCE,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
    except jwt.PyJWTError as error:
        raise Refused from error
    if header.get("typ") != "JWT" or claims.get("token_use") != "access":
        raise Refused
    return claims


def ask(token: str) -> dict:
    """What the service knows about the user of a live access token. A sign-out counts at once."""
    request = urllib.request.Request(
        f"{AUTH_URL}/introspect",
        data=urllib.parse.urlencode({"token": token}).encode(),
        headers={"Authorization": "Basic " + b64encode(CLIENT.encode()).decode()},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            caller = json.load(response)
    except (OSError, ValueError) as error:
        raise Unavailable from error
    # A live refresh token is active too.
    if not caller["active"] or caller["token_type"] != "access":
        raise Refused
    return caller
