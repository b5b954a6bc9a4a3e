package main

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"time"
)

// twoFactors is the acr of a sign-in with two factors or a passkey.
const twoFactors = "urn:portal:acr:2"

var errToken = errors.New("not a valid access token")

// Claims of an access token. docs/without-the-guard.md has the table of all.
type Claims struct {
	Subject  string `json:"sub"`
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	TokenUse string `json:"token_use"`
	Tenant   string `json:"tenant_id"`
	ACR      string `json:"acr"`
	AuthTime int64  `json:"auth_time"`
	Expires  int64  `json:"exp"`
}

// Tokens checks access tokens without asking the service. A sign-out counts when the token expires.
type Tokens struct {
	keys     *KeySet
	issuer   string
	audience string
}

// Check returns the claims of an access token. errToken: answer 401. Another error: the keys cannot be read, answer 503.
func (tokens *Tokens) Check(token string) (*Claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errToken
	}
	var header struct{ Alg, Typ, Kid string }
	// The algorithm is a constant of this program. A token that names another one, or none, is refused.
	if !decode(parts[0], &header) || header.Alg != "ES256" || header.Typ != "JWT" {
		return nil, errToken
	}
	key, err := tokens.keys.Key(header.Kid)
	if errors.Is(err, errUnknownKey) {
		return nil, errToken
	}
	if err != nil {
		return nil, err
	}
	if !signed(key, parts[0]+"."+parts[1], parts[2]) {
		return nil, errToken
	}
	claims := &Claims{}
	if !decode(parts[1], claims) || claims.Subject == "" || claims.TokenUse != "access" ||
		claims.Issuer != tokens.issuer || claims.Audience != tokens.audience || time.Now().Unix() >= claims.Expires {
		return nil, errToken
	}
	return claims, nil
}

func decode(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

func signed(key *ecdsa.PublicKey, text, signature string) bool {
	bytes, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || len(bytes) != 64 {
		return false
	}
	digest := sha256.Sum256([]byte(text))
	r, s := new(big.Int).SetBytes(bytes[:32]), new(big.Int).SetBytes(bytes[32:])
	return ecdsa.Verify(key, digest[:], r, s)
}
