import type * as OidcProvider from 'oidc-provider';

/**
 * The package `oidc-provider` (ADR 0034). Its names do not leave this folder. It is loaded by `import()` only when the
 * provider is on: with `OIDC=off` it costs neither memory nor time.
 */
export type Library = typeof OidcProvider;

/**
 * The package warns of Node 20 at its first line. The endpoint tests and the tests of the built program run on Node 20, so
 * the warning says nothing that an operator could act on, and it would be no line of the log.
 */
export async function loadLibrary(): Promise<Library> {
  const { warn } = console;
  console.warn = () => undefined; // eslint-disable-line no-console
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn; // eslint-disable-line no-console
  }
}
