import type { Draft } from './provider';

export interface Preset {
  readonly id: 'entra' | 'okta' | 'google' | 'keycloak';
  readonly name: string;
  /** What the issuer of this product looks like. */
  readonly issuer: string;
  /** Whether an issuer is one of this product. */
  readonly is: RegExp;
  readonly values: Partial<Draft>;
  /** The product tells the end of its sessions (OpenID Connect Back-Channel Logout). */
  readonly tellsLogouts: boolean;
  /** Where the product itself is described. */
  readonly documentation: string;
}

const claims = { login_name: 'preferred_username', email: 'email', nickname: 'name', groups: '' };
/** What most providers take. */
export const usual = { scopes: ['openid', 'profile', 'email'], acr_values: [], match_claim: '', claims };

/** The products of docs/identity-providers/README.md. */
export const presets: readonly Preset[] = [
  {
    id: 'entra',
    name: 'Microsoft Entra ID',
    issuer: 'https://login.microsoftonline.com/TENANT_ID/v2.0',
    is: /^https:\/\/login\.microsoftonline\.(com|us)\//,
    values: { ...usual, match_claim: 'oid' },
    tellsLogouts: false,
    documentation: 'https://learn.microsoft.com/entra/identity-platform/quickstart-register-app',
  },
  {
    id: 'okta',
    name: 'Okta',
    issuer: 'https://example.okta.com',
    is: /^https:\/\/[^/]+\.(okta|oktapreview|okta-emea)\.com(\/|$)/,
    values: usual,
    tellsLogouts: false,
    documentation: 'https://help.okta.com/oie/en-us/content/topics/apps/apps_app_integration_wizard_oidc.htm',
  },
  {
    id: 'google',
    name: 'Google Workspace',
    issuer: 'https://accounts.google.com',
    is: /^https:\/\/accounts\.google\.com$/,
    values: { ...usual, issuer: 'https://accounts.google.com', claims: { ...claims, login_name: 'email' } },
    tellsLogouts: false,
    documentation: 'https://developers.google.com/identity/openid-connect/openid-connect',
  },
  {
    id: 'keycloak',
    name: 'Keycloak',
    issuer: 'https://keycloak.example.com/realms/REALM',
    is: /\/realms\/[^/]+$/,
    values: usual,
    tellsLogouts: true,
    documentation: 'https://www.keycloak.org/docs/latest/server_admin/#_oidc_clients',
  },
];

export const presetOf = (issuer: string): Preset | undefined => presets.find(({ is }) => is.test(issuer));
