"""A Flask application that signs its users in with Authlib, as the documentation of Authlib shows."""

import os

from authlib.integrations.flask_client import OAuth, OAuthError
from flask import Flask, jsonify, redirect, session

app = Flask(__name__)
app.secret_key = os.environ["SECRET_KEY"]
own = f"http://127.0.0.1:{os.environ['PORT']}"

oauth = OAuth(app)
oauth.register(
    name="portal",
    server_metadata_url=f"{os.environ['ISSUER']}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/health")
def health():
    return jsonify(ok=True)


@app.get("/")
def home():
    return jsonify(session["user"]) if "user" in session else redirect("/sign-in")


@app.get("/sign-in")
def sign_in():
    return oauth.portal.authorize_redirect(f"{own}/callback")


@app.get("/callback")
def callback():
    """Authlib compares the state, exchanges the code, and verifies the ID token: signature, issuer, audience, time, nonce."""
    try:
        token = oauth.portal.authorize_access_token()
    except OAuthError as error:
        return jsonify(error=error.error), 400
    session["user"] = {"claims": token["userinfo"], "info": oauth.portal.userinfo(token=token)}
    return redirect("/")
