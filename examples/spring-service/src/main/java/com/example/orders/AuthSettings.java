package com.example.orders;

import org.springframework.boot.context.properties.ConfigurationProperties;

/** `auth.*` of application.properties. */
@ConfigurationProperties("auth")
public record AuthSettings(String url, String issuer, String audience, String clientId, String clientSecret) {
}
