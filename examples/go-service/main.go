// A service behind the portal, with the standard library only.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	client := &http.Client{Timeout: 3 * time.Second}
	auth := setting("AUTH_URL", "http://localhost:3000")
	tokens := &Tokens{
		keys:     NewKeySet(auth+"/.well-known/jwks.json", client),
		issuer:   setting("AUTH_ISSUER", auth),
		audience: setting("AUTH_AUDIENCE", "portal"),
	}
	service := &Introspection{
		url: auth + "/introspect", client: client,
		id: os.Getenv("AUTH_CLIENT_ID"), secret: os.Getenv("AUTH_CLIENT_SECRET"),
	}

	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(answer http.ResponseWriter, _ *http.Request) {
		reply(answer, http.StatusOK, map[string]any{"ok": true})
	})
	mux.HandleFunc("/orders", withToken(tokens.Check, func(answer http.ResponseWriter, claims *Claims) {
		reply(answer, http.StatusOK, map[string]any{"orders": []string{}, "user": claims.Subject, "tenant": claims.Tenant})
	}))
	mux.HandleFunc("/payments", withToken(tokens.Check, func(answer http.ResponseWriter, claims *Claims) {
		if claims.ACR != twoFactors {
			// RFC 9470: the token is good, the sign-in is not good enough.
			refuse(answer, `Bearer error="insufficient_user_authentication", acr_values="`+twoFactors+`"`)
			return
		}
		reply(answer, http.StatusOK, map[string]any{"payments": []string{}, "user": claims.Subject})
	}))
	mux.HandleFunc("/account", withToken(service.Ask, func(answer http.ResponseWriter, caller *Caller) {
		reply(answer, http.StatusOK, map[string]any{"user": caller.Subject, "name": caller.Username, "admin": caller.IsAdmin})
	}))

	server := &http.Server{
		Addr:    setting("HOST", "127.0.0.1") + ":" + setting("PORT", "8080"),
		Handler: mux, ReadHeaderTimeout: 5 * time.Second,
	}
	log.Fatal(server.ListenAndServe())
}

// withToken lets only requests with a token pass that check accepts.
func withToken[Who any](check func(string) (*Who, error), next func(http.ResponseWriter, *Who)) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			refuse(answer, "Bearer")
			return
		}
		who, err := check(token)
		switch {
		case err == nil:
			next(answer, who)
		case errors.Is(err, errToken):
			refuse(answer, `Bearer error="invalid_token"`)
		default:
			log.Print(err)
			answer.Header().Set("Retry-After", "1")
			reply(answer, http.StatusServiceUnavailable, map[string]any{"error": "the token cannot be checked"})
		}
	}
}

func refuse(answer http.ResponseWriter, challenge string) {
	answer.Header().Set("WWW-Authenticate", challenge)
	reply(answer, http.StatusUnauthorized, map[string]any{"error": "unauthorized"})
}

func reply(answer http.ResponseWriter, status int, body map[string]any) {
	answer.Header().Set("Content-Type", "application/json")
	answer.WriteHeader(status)
	_ = json.NewEncoder(answer).Encode(body)
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
