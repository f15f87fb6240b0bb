import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ids, long, longstr, method, octet, short, shortstr, table } from './amqp/frames.js';
import { startOurs } from './amqp/servers.js';
import { memoryOf, residentOf } from './amqp/target.js';

// node dist/bench/idle-connections.js [10000]: memory of a server per connection with one channel and nothing to do. The
// clients live in a process of their own. Both need as many open files: `ulimit -n`.
const connections = 10_000;
const warmUp = 200;
const bound = 20_000;

/** The number of handshakes at the same time. */
const width = 100;
const steps: readonly (readonly [say: Buffer, answer: number])[] = [
  [Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]), ids.connectionStart],
  [
    method(0, ids.connectionStartOk, table({}), shortstr('PLAIN'), longstr('\0guest\0guest'), shortstr('en_US')),
    ids.connectionTune,
  ],
  [
    Buffer.concat([
      method(0, ids.connectionTuneOk, short(2047), long(131_072), short(0)),
      method(0, ids.connectionOpen, shortstr('/'), octet(0), octet(0)),
    ]),
    ids.connectionOpenOk,
  ],
  [method(1, ids.channelOpen, octet(0)), ids.channelOpenOk],
];

/** Connects, opens a channel, and then sends nothing. Its answers come one at a time. */
async function idle(port: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  for (const [bytes, answer] of steps) {
    socket.write(bytes);
    const [heard] = (await once(socket, 'data')) as [Buffer];
    if (heard.readUInt32BE(7) !== answer) throw new Error(`the server said ${heard.toString('hex')}`);
  }
}

/** The process of the clients. It reports when all of them are idle, and runs until it is ended. */
async function beClients(port: number, count: number): Promise<void> {
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun++ < count) await idle(port);
  };
  await Promise.all(Array.from({ length: width }, worker));
  process.stdout.write('idle\n');
}

async function measure(count: number): Promise<void> {
  const { target, close } = await startOurs();
  const pid = target.pid as number;
  const start = async (of: number) => {
    const args = [fileURLToPath(import.meta.url), 'clients', String(target.port), String(of)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return child;
  };
  const memory = async () => {
    await wait(1_000);
    return { used: (await memoryOf(target)) ?? NaN, resident: residentOf(pid) };
  };
  // Warms up, so that the memory of compiled code is not counted.
  const first = await start(warmUp);
  first.kill();
  await once(first, 'exit');
  const before = await memory();
  const clients = await start(count);
  const after = await memory();
  const each = { used: (after.used - before.used) / count, resident: (after.resident - before.resident) / count };
  const shown = Object.entries(each).map(([name, bytes]) => `${name} ${(bytes / 1000).toFixed(1)} KB`);
  console.log(`${count} idle connections with a channel each: ${shown.join(', ')} apiece`);
  if (!(each.resident < bound)) process.exitCode = 1;
  clients.kill();
  await close();
}

const [role, port, count] = process.argv.slice(2);
if (role === 'clients') await beClients(Number(port), Number(count));
else await measure(Number(role ?? connections));
