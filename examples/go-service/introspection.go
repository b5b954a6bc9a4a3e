package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Introspection asks the service about a token, so a sign-out or a disabled account counts at once.
type Introspection struct {
	url, id, secret string
	client          *http.Client
}

// Caller is what the service knows about the user of a token.
type Caller struct {
	Active    bool   `json:"active"`
	TokenType string `json:"token_type"`
	Subject   string `json:"sub"`
	Username  string `json:"username"`
	IsAdmin   bool   `json:"is_admin"`
}

// Ask returns the user of a live access token. errToken: answer 401. Another error: answer 503, never guess.
func (asked *Introspection) Ask(token string) (*Caller, error) {
	body := url.Values{"token": {token}}.Encode()
	request, err := http.NewRequest(http.MethodPost, asked.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(asked.id, asked.secret)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := asked.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("/introspect answered %s", response.Status)
	}
	caller := &Caller{}
	if err := json.NewDecoder(response.Body).Decode(caller); err != nil {
		return nil, err
	}
	// A live refresh token is active too.
	if !caller.Active || caller.TokenType != "access" {
		return nil, errToken
	}
	return caller, nil
}
