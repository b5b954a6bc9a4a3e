package com.example.orders;

import java.util.List;
import java.util.Map;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrdersController {
    /** Two factors or a passkey. */
    private static final String TWO_FACTORS = "urn:portal:acr:2";

    @GetMapping("/health")
    Map<String, Object> health() {
        return Map.of("ok", true);
    }

    @GetMapping("/orders")
    Map<String, Object> orders(@AuthenticationPrincipal Jwt token) {
        return Map.of("orders", List.of(), "user", token.getSubject(), "tenant", token.getClaimAsString("tenant_id"));
    }

    @GetMapping("/payments")
    ResponseEntity<Map<String, Object>> payments(@AuthenticationPrincipal Jwt token) {
        if (!TWO_FACTORS.equals(token.getClaimAsString("acr"))) {
            // RFC 9470: the token is good, the sign-in is not good enough.
            var challenge = "Bearer error=\"insufficient_user_authentication\", acr_values=\"" + TWO_FACTORS + "\"";
            return ResponseEntity.status(HttpStatus.UNAUTHORIZED)
                .header(HttpHeaders.WWW_AUTHENTICATE, challenge)
                .body(Map.of("error", "unauthorized"));
        }
        return ResponseEntity.ok(Map.of("payments", List.of(), "user", token.getSubject()));
    }

    @GetMapping("/account")
    Map<String, Object> account(@AuthenticationPrincipal OAuth2AuthenticatedPrincipal caller) {
        return Map.of(
            "user", caller.getAttribute("sub"),
            "name", caller.getAttribute("username"),
            "admin", caller.getAttribute("is_admin"));
    }
}
