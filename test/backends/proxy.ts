import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of a server, which the test cuts, silences or closes. */
export class Proxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isShut = false;
  /** Connections so far. */
  connections = 0;

  private constructor(private readonly target: URL) {
    this.#server = createServer((near) => {
      this.connections++;
      if (this.#isShut) {
        near.destroy();
        return;
      }
      const far = connect(Number(target.port), target.hostname);
      const pair = [near, far] as const;
      this.#pairs.add(pair);
      near.pipe(far);
      far.pipe(near);
      for (const socket of pair) {
        socket.setNoDelay(true);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#pairs.delete(pair);
          near.destroy();
          far.destroy();
        });
      }
    });
  }

  /** Opens a proxy in front of the server with this URL. */
  static async open(target: string): Promise<Proxy> {
    const proxy = new Proxy(new URL(target));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The URL of the server, with the port of the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Ends all connections without a word. */
  cut(): void {
    for (const [near, far] of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** Ends all connections, and every new one at once, until {@link reopen}. */
  shut(): void {
    this.#isShut = true;
    this.cut();
  }

  reopen(): void {
    this.#isShut = false;
  }

  /** Nothing that clients send arrives any more, on the connections there are. */
  deafen(): void {
    for (const [near, far] of this.#pairs) near.unpipe(far);
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
