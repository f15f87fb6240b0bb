import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { serve, type Served } from '../../libs/dlx-broker/src/serve.js';
import { until } from '../amqp/harness.js';
import { memoryInUse } from './memory.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const authorization = (user: string): string => `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`;

/** Sends an import of definitions but for its last byte. @returns what was answered so far */
function unfinished({ http }: Served, bytes: number): { readonly socket: Socket; answer: () => string } {
  let answer = '';
  const socket = connect(http?.port as number, '127.0.0.1');
  socket.on('error', () => undefined).on('data', (data: Buffer) => (answer += data.toString()));
  const lines = [
    'POST /api/definitions HTTP/1.1',
    'Host: localhost',
    `Authorization: ${authorization('guest')}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes + 1}`,
    '',
    '',
  ];
  socket.write(lines.join('\r\n'));
  socket.write(Buffer.alloc(bytes, 0x20));
  ends.push(() => socket.destroy());
  return { socket, answer: () => answer };
}

const statusOf = async ({ http }: Served, user: string, body: string): Promise<number> => {
  const headers = { authorization: authorization(user), 'content-type': 'application/json' };
  const path = `http://127.0.0.1:${http?.port}/api/definitions`;
  return (await fetch(path, { method: 'POST', headers, body })).status;
};

describe('requests whose bodies never end (decision 104)', () => {
  it('take a bounded part of memory for each user, and others go on', async () => {
    const permissions = { configure: '.*', write: '.*', read: '.*' };
    const users = ['guest', 'ada'].map((name) => ({
      name,
      password: name,
      tags: ['administrator'],
      permissions: { '/': permissions },
    }));
    const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 }, users });
    ends.push(() => served.close());
    const before = memoryInUse();
    const requests = Array.from({ length: 8 }, () => unfinished(served, 19_000_000));
    const refused = (): number => requests.filter(({ answer }) => answer().startsWith('HTTP/1.1 503')).length;
    await until(() => refused() >= 5);
    expect(memoryInUse() - before).toBeLessThan(120_000_000);
    const told = requests.find(({ answer }) => answer() !== '')?.answer();
    expect(told).toContain('too_many_unfinished_bodies');
    expect(await statusOf(served, 'ada', JSON.stringify({ queues: [], x: 'x'.repeat(1_000_000) }))).toBe(204);
    for (const { socket } of requests) socket.destroy();
    // What they held is free again.
    let status = 503;
    while (status === 503) {
      status = await statusOf(served, 'guest', JSON.stringify({ queues: [], x: 'x'.repeat(8_000_000) }));
    }
    expect(status).toBe(204);
  });
});
