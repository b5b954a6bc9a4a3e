import { fileURLToPath } from 'node:url';
import { defineConfig, type Rolldown } from 'vite';

const service = 'http://127.0.0.1:3000';
const sdk = fileURLToPath(new URL('../sdk/typescript/dist/', import.meta.url));

// Vite inserts this address into index.html. It is empty if the service itself serves the pages.
process.env.VITE_SERVICE_URL ??= '';

/** Whether the first script imports the module statically, so that the login page needs it. */
function isFirst(id: string, build: Rolldown.ChunkingContext, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const module = build.getModuleInfo(id);
  return module?.isEntry === true || (module?.importers ?? []).some((importer) => isFirst(importer, build, seen));
}

/** The pages use the built SDK, not its sources, so that they test what is published. */
export default defineConfig({
  base: process.env.PORTAL_BASE ?? '/',
  resolve: {
    alias: [
      // wouter brings this hook along for React 17. React 19 has it.
      { find: 'use-sync-external-store/shim/index.js', replacement: 'react' },
      // The generated client has event streams, which the service does not send.
      {
        find: /^.*\/serverSentEvents\.gen\.js$/,
        replacement: fileURLToPath(new URL('src/no-event-streams.ts', import.meta.url)),
      },
      { find: /^@portal-auth\/sdk$/, replacement: `${sdk}index.js` },
      { find: /^@portal-auth\/sdk\/(\w+)$/, replacement: `${sdk}$1.js` },
    ],
  },
  build: {
    // The browsers of portal/README.md. For them Lightning CSS replaces newer features, for example light-dark().
    target: ['chrome111', 'edge111', 'firefox115', 'safari16.2'],
    // The Content-Security-Policy of the pages forbids inline scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: false,
    // One file compresses better than the eight that the bundler makes of the modules that pages share.
    rolldownOptions: {
      // Which plug-in took how long depends on the machine: a stranger would read it as a fault of the first build.
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          groups: [{ debugName: 'first', name: (id, build) => (isFirst(id, build) ? 'first' : null) }],
        },
      },
    },
  },
  worker: { format: 'es' },
  // For `npx vite portal`: forwards the paths of the service to the one that `npm start` runs.
  server: {
    proxy: Object.fromEntries(
      [
        '/login',
        '/capabilities',
        '/brand/',
        '/otp-',
        '/totp-secret',
        '/refresh',
        '/logout',
        '/captcha',
        '/verify-captcha',
        '/forget-password',
        '/password-policy',
        '/user/',
        '/recovery-codes',
        '/passkeys',
        '/admin/',
        '/demo/',
      ].map((path) => [path, service]),
    ),
  },
});
