import { type AddressInfo, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { LinkedServer } from '../../../../../test/harnesses/amqp-link.js';
import { linkedBackend } from '../../../../../test/harnesses/linked-backend.js';
import type { RabbitMqOptions } from './options.js';
import { need } from '../need.js';

async function connected(options: Partial<RabbitMqOptions>, channels = 2_047) {
  const server = new LinkedServer({ channels });
  const backend = await linkedBackend(server, options);
  return { server, backend };
}

it('a call of a management API that does not answer ends with the backend', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const { backend } = await connected({ management: `http://guest:guest@127.0.0.1:${port}` });
  const asked = need(backend, 'listing').queueNames();
  asked.catch(() => undefined);
  const browsed = need(backend, 'browsing').browse('q', 10);
  browsed.catch(() => undefined);
  await expect.poll(() => sockets.length, { interval: 1 }).toBe(2);
  const ends = sockets.map((socket) => once(socket.resume(), 'close'));
  void backend.close();
  const ended = { name: 'ConnectionLostError', message: 'this application has ended the call' };
  await expect(asked).rejects.toMatchObject(ended);
  await expect(browsed).rejects.toMatchObject(ended);
  await Promise.all(ends); // nothing keeps the process alive
  silent.close();
});

it('the loss of a reply channel that cannot be opened is reported once, and after the call that opens it', async () => {
  const { backend } = await connected({}, 1); // the publisher has it
  const reports: string[] = [];
  let isInside = true;
  backend.openReplies(
    () => undefined,
    undefined,
    ({ message }) => reports.push(`${isInside ? 'inside' : 'after'}: ${message}`),
  );
  isInside = false;
  await expect.poll(() => reports, { interval: 1 }).toEqual(['after: all 1 channels that the server allows are open']);
});
