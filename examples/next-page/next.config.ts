import type { NextConfig } from 'next';

const config: NextConfig = {
  distDir: 'dist',
  poweredByHeader: false,
  // The repository around this example has a lock file as well.
  turbopack: { root: import.meta.dirname },
  images: { unoptimized: true },
  headers: () =>
    Promise.resolve([
      {
        source: '/:path*',
        headers: [
          { key: 'Content-Security-Policy', value: "frame-ancestors 'none'" },
          { key: 'Referrer-Policy', value: 'same-origin' },
        ],
      },
    ]),
};

export default config;
