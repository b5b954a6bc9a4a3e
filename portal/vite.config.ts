import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const service = 'http://127.0.0.1:3000';

// Where the pages find the service (index.html); empty where it serves them itself.
process.env.VITE_SERVICE_URL ??= '';

/** The SDK as it is published, not its sources: what the pages get is what anybody gets. */
export default defineConfig({
  base: process.env.PORTAL_BASE ?? '/',
  resolve: {
    alias: { '@portal-auth/sdk': fileURLToPath(new URL('../sdk/typescript/dist/index.js', import.meta.url)) },
  },
  build: {
    // Browsers that know light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // Neither script nor style inline: the policy of the pages allows files of their own origin only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: 'es' },
  // `npx vite portal`: the pages fresh from the sources, the service from `npm start`.
  server: {
    proxy: Object.fromEntries(
      [
        '/login',
        '/otp-',
        '/totp-secret',
        '/refresh',
        '/logout',
        '/captcha',
        '/verify-captcha',
        '/forget-password',
        '/password-policy',
        '/user/',
        '/demo/',
      ].map((path) => [path, service]),
    ),
  },
});
