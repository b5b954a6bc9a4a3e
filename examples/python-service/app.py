"""A service behind the portal."""

from functools import wraps

from flask import Flask, jsonify, request

from tokens import Refused, Unavailable, ask, check

# Two factors or a passkey.
TWO_FACTORS = "urn:portal:acr:2"

app = Flask(__name__)


def refuse(challenge: str):
    return jsonify(error="unauthorized"), 401, {"WWW-Authenticate": challenge}


def with_token(who):
    """Lets only requests with a token pass that `who` accepts, and passes on what it returns."""

    def decorate(route):
        @wraps(route)
        def checked():
            scheme, _, token = request.headers.get("Authorization", "").partition(" ")
            if scheme.lower() != "bearer":
                return refuse("Bearer")
            try:
                return route(who(token))
            except Refused:
                return refuse('Bearer error="invalid_token"')
            except Unavailable as error:
                app.logger.warning("the token cannot be checked: %s", error.__cause__)
                return jsonify(error="the token cannot be checked"), 503, {"Retry-After": "1"}

        return checked

    return decorate


@app.get("/health")
def health():
    return jsonify(ok=True)


@app.get("/orders")
@with_token(check)
def orders(claims):
    return jsonify(orders=[], user=claims["sub"], tenant=claims["tenant_id"])


@app.get("/payments")
@with_token(check)
def payments(claims):
    if claims.get("acr") != TWO_FACTORS:
        # RFC 9470: the token is good, the sign-in is not good enough.
        return refuse(f'Bearer error="insufficient_user_authentication", acr_values="{TWO_FACTORS}"')
    return jsonify(payments=[], user=claims["sub"])


@app.get("/account")
@with_token(ask)
def account(caller):
    return jsonify(user=caller["sub"], name=caller["username"], admin=caller["is_admin"])
