import type { ReactNode } from 'react';

export const metadata = { title: 'Example of a page' };

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <main>{children}</main>
      </body>
    </html>
  );
}
