package com.example.orders;

import java.time.Duration;
import java.util.List;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtIssuerValidator;
import org.springframework.security.oauth2.jwt.JwtTimestampValidator;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.introspection.BadOpaqueTokenException;
import org.springframework.security.oauth2.server.resource.introspection.OpaqueTokenIntrospector;
import org.springframework.security.oauth2.server.resource.introspection.SpringOpaqueTokenIntrospector;
import org.springframework.security.web.SecurityFilterChain;

/** /account asks the service about each token. All other routes check it with the key set. */
@Configuration
class TokenSecurity {
    @Bean
    @Order(1)
    SecurityFilterChain asking(HttpSecurity http, OpaqueTokenIntrospector introspector) throws Exception {
        return withoutSession(http.securityMatcher("/account"))
            .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
            .oauth2ResourceServer(server -> server.opaqueToken(token -> token.introspector(introspector)))
            .build();
    }

    @Bean
    @Order(2)
    SecurityFilterChain offline(HttpSecurity http) throws Exception {
        return withoutSession(http)
            .authorizeHttpRequests(requests -> requests
                .requestMatchers("/health").permitAll()
                .anyRequest().authenticated())
            .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults()))
            .build();
    }

    /** Spring's decoder refuses a header `typ` other than `JWT`, and keeps the key set for five minutes. */
    @Bean
    JwtDecoder jwtDecoder(AuthSettings auth) {
        var decoder = NimbusJwtDecoder.withJwkSetUri(auth.url() + "/.well-known/jwks.json")
            .jwsAlgorithm(SignatureAlgorithm.ES256)
            .build();
        decoder.setJwtValidator(new DelegatingOAuth2TokenValidator<>(
            // Spring accepts a token without `exp`, and an expired one for a minute, unless it is told otherwise.
            new JwtClaimValidator<Object>("exp", expiry -> expiry != null),
            new JwtTimestampValidator(Duration.ZERO),
            new JwtIssuerValidator(auth.issuer()),
            new JwtClaimValidator<List<String>>("aud", audience -> audience != null && audience.contains(auth.audience())),
            new JwtClaimValidator<String>("token_use", "access"::equals)));
        return decoder;
    }

    /** A sign-out or a disabled account counts at once. A live refresh token is active too, and is refused here. */
    @Bean
    OpaqueTokenIntrospector introspector(AuthSettings auth) {
        var asked = SpringOpaqueTokenIntrospector.withIntrospectionUri(auth.url() + "/introspect")
            .clientId(auth.clientId())
            .clientSecret(auth.clientSecret())
            .build();
        return token -> {
            var caller = asked.introspect(token);
            if (!"access".equals(caller.getAttribute("token_type"))) {
                throw new BadOpaqueTokenException("not an access token");
            }
            return caller;
        };
    }

    private static HttpSecurity withoutSession(HttpSecurity http) throws Exception {
        return http
            .sessionManagement(session -> session.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
            // The token is in a header, which no other site can make a browser send.
            .csrf(csrf -> csrf.disable());
    }
}
