import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Redis of the test, in memory only. */
export class RedisServer {
  #process: ChildProcess | undefined;

  private constructor(readonly port: number) {}

  /** On a port that is free. @throws when there is no redis-server */
  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Again, and empty, at the same port. @throws when it ends instead of listening */
  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn('redis-server', options, { stdio: 'ignore' });
    this.#process = child;
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`redis-server ended with ${code}`)));
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
    failed.catch(() => undefined);
    ended.catch(() => undefined);
    await Promise.race([answers(this.port), ended, failed]);
  }

  /** Ends it as a crash does: its data are lost. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const socket = connect(port, '127.0.0.1');
    const heard = await Promise.race([
      once(socket, 'connect')
        .then(() => socket.write('PING\r\n'))
        .then(() => once(socket, 'data'))
        .then(([data]) => String(data)),
      once(socket, 'error'),
      sleep(1_000),
    ]).catch(() => undefined);
    socket.destroy();
    if (heard === '+PONG\r\n') return;
    await sleep(10);
  }
  throw new Error(`nothing answers on port ${port}`);
}
