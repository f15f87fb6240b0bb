import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dataFolder } from './amqp/data-folder.js';
import { ids, long, longstr, method, octet, short, shortstr, table } from './amqp/frames.js';
import { openRabbit, startOurs } from './amqp/servers.js';
import { memoryOf, residentOf, type Target } from './amqp/target.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/idle-connections.js [CONNECTIONS]

Memory of a server for each connection with one channel and nothing to do, and the same of RabbitMQ with few of them. The clients live in a process of
their own. Both processes need as many open files: where the system allows fewer, as many connections as it allows are opened.

  CONNECTIONS  (default: 50000)`);

const wanted = 50_000;
const warmUp = 200;
/** Bytes of resident memory. */
const most = 10_000;

/** RabbitMQ with the usual limit of 1,024 open files takes 829 connections, and would refuse those of others. */
const ofRabbit = 500;

/** Open files of a process that are no connections. */
const otherFiles = 100;

/** Connections from one loopback address: each has some 28,000 ports. */
const fromAddress = 20_000;

/** The number of handshakes at the same time. */
const width = 100;

/** What a client says, and the answer that it waits for. */
const steps = ({ user, password, vhost }: Target): readonly (readonly [say: Buffer, answer: number])[] => [
  [Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]), ids.connectionStart],
  [
    method(
      0,
      ids.connectionStartOk,
      table({}),
      shortstr('PLAIN'),
      longstr(`\0${user}\0${password}`),
      shortstr('en_US'),
    ),
    ids.connectionTune,
  ],
  [
    Buffer.concat([
      method(0, ids.connectionTuneOk, short(2047), long(131_072), short(0)),
      method(0, ids.connectionOpen, shortstr(vhost), octet(0), octet(0)),
    ]),
    ids.connectionOpenOk,
  ],
  [method(1, ids.channelOpen, octet(0)), ids.channelOpenOk],
];

/** Connects, opens a channel, and then sends nothing. Its answers come one at a time. */
async function idle(target: Target, index: number): Promise<void> {
  const address = Math.floor(index / fromAddress);
  // To bind a socket to an address takes longer, so the first ones are not bound.
  const bound = address === 0 ? {} : { localAddress: `127.0.0.${1 + address}` };
  const socket = connect({ port: target.port, host: target.host, noDelay: true, ...bound });
  await once(socket, 'connect');
  for (const [bytes, answer] of steps(target)) {
    socket.write(bytes);
    const [heard] = (await once(socket, 'data')) as [Buffer];
    if (heard.readUInt32BE(7) !== answer) throw new Error(`the server said ${heard.toString('hex')}`);
  }
}

/** The process of the clients. It reports when all of them are idle, and runs until it is ended. */
async function beClients(target: Target, count: number): Promise<void> {
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < count) await idle(target, begun++);
  };
  await Promise.all(Array.from({ length: width }, worker));
  process.stdout.write('idle\n');
}

/** Starts clients. @returns when all of them are idle */
async function clientsOf(target: Target, count: number) {
  const args = [fileURLToPath(import.meta.url), 'clients', JSON.stringify(target), String(count)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/** @returns bytes of resident memory of each */
async function measure(target: Target, count: number): Promise<number> {
  const memory = async () => {
    await wait(1_000);
    return { used: (await memoryOf(target)) ?? NaN, resident: residentOf(target.pid) };
  };
  // Warms up, so that the memory of compiled code is not counted.
  const first = await clientsOf(target, warmUp);
  first.kill();
  await once(first, 'exit');
  const before = await memory();
  const clients = await clientsOf(target, count);
  const after = await memory();
  const each = { used: (after.used - before.used) / count, resident: (after.resident - before.resident) / count };
  const shown = Object.entries(each)
    .filter(([, bytes]) => !Number.isNaN(bytes))
    .map(([name, bytes]) => `${name} ${(bytes / 1000).toFixed(1)} KB`);
  console.log(`${target.name}: ${count} idle connections with a channel each: ${shown.join(', ')} for each connection`);
  clients.kill();
  await once(clients, 'exit');
  return each.resident;
}

/** The most files that a process may have open: node raises its own limit to it. */
function openFiles(): number {
  const limit = /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return limit === 'unlimited' ? Infinity : Number(limit);
}

async function compare(asked: number): Promise<void> {
  const possible = openFiles() - otherFiles;
  const count = Math.min(asked, possible);
  if (count < asked) console.log(`only ${count} of ${asked} connections: a process may open ${openFiles()} files`);
  const { folder, remove } = dataFolder('idle-connections');
  const config = join(folder, 'serve.json');
  writeFileSync(config, JSON.stringify({ limits: { connections: count + warmUp } }));
  const ours = await startOurs([], true, ['--config', config]);
  if (!((await measure(ours.target, count)) < most)) process.exitCode = 1;
  await ours.close();
  remove();
  const rabbit = await openRabbit();
  if (rabbit === undefined) return;
  await measure(rabbit.target, ofRabbit);
  await rabbit.close();
}

const [role, target, count] = process.argv.slice(2);
if (role === 'clients') await beClients(JSON.parse(target as string) as Target, Number(count));
else await compare(Number(role ?? wanted));
