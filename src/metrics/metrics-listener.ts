import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exposition {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** Serves only `GET /metrics`, on a separate port that is not exposed to clients. */
export class MetricsListener {
  private scrape: Promise<string> | undefined;

  private constructor(
    private readonly server: Server,
    private readonly exposition: Exposition,
  ) {}

  static async open(exposition: Exposition, host: string, port: number): Promise<MetricsListener> {
    const server = createServer({ requestTimeout: 5000, headersTimeout: 5000, maxHeaderSize: 8 * 1024 });
    const listener = new MetricsListener(server, exposition);
    server.on('request', (request, response) => {
      // Discards the body of the request, if it has one. Prometheus sends none.
      request.resume();
      if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      listener.text().then(
        (text) => response.writeHead(200, { 'content-type': exposition.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    server.listen(port, host);
    await once(server, 'listening');
    return listener;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /** Parallel scrapes share one reading, so many scrapes cannot overload the database. */
  private text(): Promise<string> {
    return (this.scrape ??= this.exposition.metrics().finally(() => (this.scrape = undefined)));
  }
}
