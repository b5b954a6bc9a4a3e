/** Where an application of a product is found, below its base address. */
interface Addresses {
  readonly redirect: string;
  readonly afterLogout?: string;
  readonly backchannel?: string;
}

/** The values of one application, ready to be written into the settings of a product. */
export interface Values {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  readonly userinfo: string;
  readonly endSession: string;
  readonly clientId: string;
  readonly secret: string;
  /** The base address of the application, without a slash at the end. */
  readonly base: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** The name of this service on the button of the product. */
  readonly label: string;
}

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly addresses: Addresses;
  readonly scopes: readonly string[];
  /** The documentation of the product. */
  readonly documentation: string;
  /** The file or place of each block, and its text. */
  readonly settings: (values: Values) => readonly (readonly [place: string, text: string])[];
}

/** The name of this service in the settings of a product, where a name is part of an address. */
const provider = 'portal';
const discovery = (issuer: string): string => `${issuer}/.well-known/openid-configuration`;

/**
 * The products of docs/applications.md. The settings hold what signs users in and out, and what ends sessions; everything
 * else is left to the documentation of the product.
 */
export const products: readonly Product[] = [
  {
    id: 'grafana',
    name: 'Grafana',
    addresses: { redirect: '/login/generic_oauth', afterLogout: '/login' },
    scopes: ['openid', 'profile', 'email'],
    documentation:
      'https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/',
    settings: (v) => [
      [
        'grafana.ini',
        `[server]
root_url = ${v.base}/

[auth]
signout_redirect_url = ${v.endSession}?client_id=${v.clientId}&post_logout_redirect_uri=${encodeURIComponent(`${v.base}/login`)}

[auth.generic_oauth]
enabled = true
name = ${v.label}
client_id = ${v.clientId}
client_secret = ${v.secret}
scopes = ${v.scopes.join(' ')}
auth_url = ${v.authorization}
token_url = ${v.token}
api_url = ${v.userinfo}
use_pkce = true
use_refresh_token = true
login_attribute_path = preferred_username
name_attribute_path = name
email_attribute_path = email`,
      ],
    ],
  },
  {
    id: 'gitlab',
    name: 'GitLab',
    addresses: { redirect: '/users/auth/openid_connect/callback' },
    scopes: ['openid', 'profile', 'email'],
    documentation: 'https://docs.gitlab.com/administration/auth/oidc/',
    settings: (v) => [
      [
        '/etc/gitlab/gitlab.rb',
        `gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_block_auto_created_users'] = false
gitlab_rails['omniauth_providers'] = [
  {
    name: "openid_connect",
    label: "${v.label}",
    args: {
      name: "openid_connect",
      scope: [${v.scopes.map((one) => `"${one}"`).join(', ')}],
      response_type: "code",
      issuer: "${v.issuer}",
      discovery: true,
      client_auth_method: "basic",
      uid_field: "sub",
      pkce: true,
      client_options: {
        identifier: "${v.clientId}",
        secret: "${v.secret}",
        redirect_uri: "${v.redirectUri}"
      }
    }
  }
]`,
      ],
    ],
  },
  {
    id: 'nextcloud',
    name: 'Nextcloud',
    addresses: {
      redirect: '/apps/user_oidc/code',
      afterLogout: '/',
      backchannel: `/index.php/apps/user_oidc/backchannel-logout/${provider}`,
    },
    scopes: ['openid', 'profile', 'email'],
    documentation: 'https://github.com/nextcloud/user_oidc',
    settings: (v) => [
      [
        'config/config.php',
        `'user_oidc' => [
  'use_pkce' => true,
  'enrich_login_id_token_with_userinfo' => true,
],`,
      ],
      [
        'occ',
        `php occ app:install user_oidc
php occ user_oidc:provider ${provider} \\
  --clientid='${v.clientId}' \\
  --clientsecret='${v.secret}' \\
  --discoveryuri='${discovery(v.issuer)}' \\
  --scope='${v.scopes.join(' ')}' \\
  --unique-uid=0 \\
  --mapping-uid=sub \\
  --mapping-display-name=name \\
  --mapping-email=email`,
      ],
    ],
  },
  {
    id: 'oauth2-proxy',
    name: 'oauth2-proxy',
    addresses: { redirect: '/oauth2/callback', afterLogout: '/' },
    scopes: ['openid', 'profile', 'email'],
    documentation: 'https://oauth2-proxy.github.io/oauth2-proxy/configuration/providers/openid_connect',
    settings: (v) => [
      [
        'oauth2-proxy.cfg',
        `provider = "oidc"
provider_display_name = "${v.label}"
oidc_issuer_url = "${v.issuer}"
client_id = "${v.clientId}"
client_secret = "${v.secret}"
redirect_url = "${v.redirectUri}"
scope = "${v.scopes.join(' ')}"
code_challenge_method = "S256"
email_domains = ["*"]
cookie_refresh = "5m"
backend_logout_url = "${v.endSession}?id_token_hint={id_token}"`,
      ],
    ],
  },
  {
    id: 'apache',
    name: 'Apache (mod_auth_openidc)',
    addresses: {
      redirect: '/protected/redirect_uri',
      afterLogout: '/',
      backchannel: '/protected/redirect_uri?logout=backchannel',
    },
    scopes: ['openid', 'profile', 'email'],
    documentation: 'https://github.com/OpenIDC/mod_auth_openidc/wiki',
    settings: (v) => [
      [
        'auth_openidc.conf',
        `OIDCProviderMetadataURL ${discovery(v.issuer)}
OIDCClientID ${v.clientId}
OIDCClientSecret ${v.secret}
OIDCRedirectURI ${v.redirectUri}
OIDCCryptoPassphrase "exec:/usr/bin/cat /etc/apache2/oidc-passphrase"
OIDCScope "${v.scopes.join(' ')}"
OIDCPKCEMethod S256
OIDCRemoteUserClaim preferred_username

<Location /protected>
  AuthType openid-connect
  Require valid-user
</Location>`,
      ],
    ],
  },
  {
    id: 'spring',
    name: 'Spring Boot',
    addresses: {
      redirect: `/login/oauth2/code/${provider}`,
      afterLogout: '/',
      backchannel: `/logout/connect/back-channel/${provider}`,
    },
    scopes: ['openid', 'profile', 'email'],
    documentation: 'https://docs.spring.io/spring-security/reference/servlet/oauth2/login/index.html',
    settings: (v) => [
      [
        'application.yaml',
        `spring:
  security:
    oauth2:
      client:
        registration:
          ${provider}:
            client-id: ${v.clientId}
            client-secret: ${v.secret}
            scope: [${v.scopes.join(', ')}]
        provider:
          ${provider}:
            issuer-uri: ${v.issuer}
            user-name-attribute: preferred_username`,
      ],
      [
        'SecurityConfig.java',
        `var requests = new DefaultOAuth2AuthorizationRequestResolver(registrations, "/oauth2/authorization");
requests.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
var loggedOut = new OidcClientInitiatedLogoutSuccessHandler(registrations);
loggedOut.setPostLogoutRedirectUri("{baseUrl}/");
http.oauth2Login(login -> login.authorizationEndpoint(at -> at.authorizationRequestResolver(requests)))
    .oidcLogout(logout -> logout.backChannel(Customizer.withDefaults()))
    .logout(logout -> logout.logoutSuccessHandler(loggedOut));`,
      ],
    ],
  },
  {
    id: 'aspnet',
    name: 'ASP.NET Core',
    addresses: { redirect: '/signin-oidc', afterLogout: '/signout-callback-oidc' },
    scopes: ['openid', 'profile', 'email'],
    documentation: 'https://learn.microsoft.com/aspnet/core/security/authentication/configure-oidc-web-authentication',
    settings: (v) => [
      [
        'appsettings.json',
        `"Authentication": {
  "Schemes": {
    "OpenIdConnect": {
      "Authority": "${v.issuer}",
      "ClientId": "${v.clientId}",
      "ClientSecret": "${v.secret}"
    }
  }
}`,
      ],
      [
        'Program.cs',
        `builder.Services
  .AddAuthentication(options =>
  {
    options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
    options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
  })
  .AddCookie()
  .AddOpenIdConnect(options =>
  {
    builder.Configuration.Bind("Authentication:Schemes:OpenIdConnect", options);
    options.ResponseType = "code";
    options.SaveTokens = true;
    options.MapInboundClaims = false;
    options.GetClaimsFromUserInfoEndpoint = true;
    options.Scope.Clear();
${v.scopes.map((one) => `    options.Scope.Add("${one}");`).join('\n')}
    options.TokenValidationParameters.NameClaimType = "preferred_username";
  });`,
      ],
    ],
  },
];

/** The addresses of an application of this product. */
export const addressesOf = ({ addresses: { redirect, afterLogout, backchannel } }: Product, base: string) => ({
  redirect_uris: [base + redirect],
  post_logout_redirect_uris: afterLogout === undefined ? [] : [base + afterLogout],
  backchannel_logout_uri: backchannel === undefined ? '' : base + backchannel,
  uri: `${base}/`,
});

/** The product that uses one of these redirect URIs, and its base address. */
export function productOf(redirectUris: readonly string[]): { product: Product; base: string } | undefined {
  for (const uri of redirectUris)
    for (const product of products)
      if (uri.endsWith(product.addresses.redirect))
        return { product, base: uri.slice(0, -product.addresses.redirect.length) };
  return undefined;
}

/** `https://grafana.example.com` of what was typed, or undefined while it is no address. */
export function baseOf(typed: string): string | undefined {
  const text = typed.trim();
  try {
    const { protocol, origin, pathname } = new URL(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
    return ['https:', 'http:'].includes(protocol) ? origin + pathname.replace(/\/+$/, '') : undefined;
  } catch {
    return undefined;
  }
}
