import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket, type SocketConstructorOpts } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Crowd } from './amqp/crowd.js';
import { RatedLoad } from './amqp/rated-load.js';
import { rateOf, until } from './amqp/measure.js';
import { startOurs } from './amqp/servers.js';
import type { Target } from './amqp/target.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/bare-net.js [CONNECTIONS] [RATE] [RUNS]

Processor time for each message that comes one by one over many connections, of 'dlx-broker serve' and of a server that only reads and writes with node's
'net'. The message and its ack are two reads, the delivery is a write. Both servers run in turn.

  CONNECTIONS  (default: 1000)
  RATE         messages a second (default: 8000)
  RUNS         of each server (default: 5)`);

const [connections = 1_000, rate = 8_000, runs = 5] = process.argv.slice(2).map(Number);
const seconds = { warm: 2, measured: 5 };

/** Bytes of a publish with 16 bytes, of its delivery, and of an ack, in frames of AMQP 0-9-1. */
const sizes = { publish: 65, delivery: 92, ack: 21 };
const [published, acked] = [1, 2];

/** A socket that reads into a buffer of all sockets, as `serve` does it. */
function withBuffer(accepted: Socket, buffer: Buffer, read: (socket: Socket, bytes: Buffer) => void): Socket {
  const from = accepted as { _handle?: object | null };
  const handle = from._handle;
  from._handle = null;
  accepted.destroy();
  const callback = (length: number): boolean => {
    read(socket, buffer.subarray(0, length));
    return true;
  };
  const socket: Socket = new Socket({ handle, onread: { buffer, callback } } as SocketConstructorOpts);
  return socket;
}

/** The process of the bare server. It writes its port. */
function beServer(): void {
  const buffer = Buffer.alloc(65_536);
  const whole = new WeakMap<Socket, Buffer>();
  const read = (socket: Socket, bytes: Buffer): void => {
    const before = whole.get(socket);
    const all = before === undefined ? bytes : Buffer.concat([before, bytes]);
    let at = 0;
    let count = 0;
    for (let size = 0; at < all.length; at += size) {
      size = all[at] === published ? sizes.publish : sizes.ack;
      if (at + size > all.length) break;
      if (size === sizes.publish) count++;
    }
    if (at < all.length) whole.set(socket, Buffer.from(all.subarray(at)));
    else if (before !== undefined) whole.delete(socket);
    if (count > 0) socket.write(Buffer.allocUnsafe(count * sizes.delivery));
  };
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => withBuffer(socket, buffer, read));
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
}

/** A connection to the bare server. */
class Bare {
  sent = 0;
  arrived = 0;
  #bytes = 0;
  readonly #socket: Socket;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('data', ({ length }: Buffer) => {
      this.#bytes += length;
      const arrived = Math.floor(this.#bytes / sizes.delivery);
      if (arrived === this.arrived) return;
      this.arrived = arrived;
      this.#socket.write(Buffer.alloc(sizes.ack, acked));
    });
  }

  async open(): Promise<void> {
    await once(this.#socket, 'connect');
  }

  publish(count: number): void {
    this.sent += count;
    this.#socket.write(Buffer.alloc(count * sizes.publish, published));
  }

  async close(): Promise<void> {
    this.#socket.destroy();
  }
}

/** @returns microseconds of processor time of the server for each message */
async function loaded(
  target: Target,
  crowd: { readonly members: readonly { sent: number; arrived: number; publish(count: number, now: number): void }[] },
): Promise<number> {
  const sum = (name: 'sent' | 'arrived'): number => crowd.members.reduce((all, member) => all + member[name], 0);
  const load = new RatedLoad(crowd, rate);
  const { serverCpu } = await rateOf(target, seconds, () => sum('arrived'));
  load.stop();
  await until(() => sum('arrived') >= sum('sent'));
  return serverCpu as number;
}

async function ofBare(): Promise<number> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'server'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const members: Bare[] = [];
  for (let index = 0; index < connections; index++) {
    members.push(new Bare(Number(String(port))));
    await members.at(-1)?.open();
  }
  const result = await loaded({ pid: child.pid } as Target, { members });
  child.kill();
  await once(child, 'exit');
  for (const member of members) await member.close();
  return result;
}

async function ofOurs(): Promise<number> {
  const { target, close } = await startOurs([], false);
  const crowd = new Crowd(connections);
  await crowd.open(target);
  const result = await loaded(target, crowd);
  await crowd.close();
  await close();
  return result;
}

const middle = (all: readonly number[]): number =>
  [...all].sort((one, other) => one - other)[all.length >> 1] as number;

if (process.argv[2] === 'server') beServer();
else {
  const all = { bare: [] as number[], ours: [] as number[] };
  for (let run = 0; run < runs; run++) {
    all.bare.push(await ofBare());
    all.ours.push(await ofOurs());
    await wait(200);
    console.log(`bare ${all.bare.at(-1)?.toFixed(1)} us, dlx-broker ${all.ours.at(-1)?.toFixed(1)} us`);
  }
  const [bare, ours] = [middle(all.bare), middle(all.ours)];
  console.log(
    `${connections} connections, ${rate} messages a second, medians of ${runs}: a bare server ${bare.toFixed(1)} us, dlx-broker ${ours.toFixed(1)} us, ${(ours / bare).toFixed(2)} of it`,
  );
}
