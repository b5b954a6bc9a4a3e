package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"
)

const (
	// A key set is kept for so long.
	keysLife = 5 * time.Minute
	// An unknown kid asks for the set again, at most this often. Otherwise each forged token would be a request.
	keysPause = time.Second
)

var errUnknownKey = errors.New("no such key")

// KeySet has the public keys of the service. It is safe for concurrent use.
type KeySet struct {
	url    string
	client *http.Client

	mutex   sync.Mutex
	keys    map[string]*ecdsa.PublicKey
	fetched time.Time
	tried   time.Time
	failure error
}

// NewKeySet reads nothing yet: the service may start after this program.
func NewKeySet(url string, client *http.Client) *KeySet {
	return &KeySet{url: url, client: client}
}

// Key returns the key of a kid. errUnknownKey: the token is forged or very old. Another error: the keys cannot be read.
func (set *KeySet) Key(kid string) (*ecdsa.PublicKey, error) {
	set.mutex.Lock()
	defer set.mutex.Unlock()
	if key, known := set.keys[kid]; known && time.Since(set.fetched) < keysLife {
		return key, nil
	}
	if time.Since(set.tried) >= keysPause {
		set.tried = time.Now()
		keys, err := set.fetch()
		if set.failure = err; err == nil {
			set.keys, set.fetched = keys, time.Now()
		}
	}
	if set.failure != nil {
		return nil, set.failure
	}
	key, known := set.keys[kid]
	if !known {
		return nil, errUnknownKey
	}
	return key, nil
}

func (set *KeySet) fetch() (map[string]*ecdsa.PublicKey, error) {
	response, err := set.client.Get(set.url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", set.url, response.Status)
	}
	var body struct {
		Keys []struct{ Kid, Kty, Crv, X, Y string }
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return nil, err
	}
	keys := make(map[string]*ecdsa.PublicKey)
	for _, one := range body.Keys {
		x, errX := coordinate(one.X)
		y, errY := coordinate(one.Y)
		if one.Kty != "EC" || one.Crv != "P-256" || errX != nil || errY != nil || !elliptic.P256().IsOnCurve(x, y) {
			continue
		}
		keys[one.Kid] = &ecdsa.PublicKey{Curve: elliptic.P256(), X: x, Y: y}
	}
	return keys, nil
}

func coordinate(text string) (*big.Int, error) {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(bytes), err
}
