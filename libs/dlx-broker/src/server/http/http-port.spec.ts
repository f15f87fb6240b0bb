import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { type Answering, HttpPort } from './http-port.js';
import { eventLoop } from './turns.js';

/** Sends requests to a port, one after the other on one connection. @returns all that came back */
async function talk({ port }: HttpPort, ...paths: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
  for (const [index, path] of paths.entries()) {
    const connection = index === paths.length - 1 ? 'close' : 'keep-alive';
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: ${connection}\r\n\r\n`);
  }
  await once(socket, 'close');
  return text;
}

it('loads what answers requests once, before the first one, and answers in order', async () => {
  let loads = 0;
  const port = new HttpPort(
    async () => {
      loads++;
      return ({ url }, response) => void response.end(`answer ${url}.`);
    },
    {},
    undefined,
  );
  await port.open('127.0.0.1', 0);
  expect(loads).toBe(0);
  await eventLoop.next();
  expect(loads).toBe(1);
  const text = await talk(port, '/one', '/two');
  expect(text.match(/answer [^.]+/g)).toEqual(['answer /one', 'answer /two']);
  await talk(port, '/three');
  expect(loads).toBe(1);
  await port.close();
});

it('answers no request whose client has gone during the load: the rest of its body never comes', async () => {
  let isLoaded = (_answer: Answering): void => undefined;
  const loading = new Promise<Answering>((resolve) => (isLoaded = resolve));
  let begun = (): void => undefined;
  const begins = new Promise<void>((resolve) => (begun = resolve));
  const load = (): Promise<Answering> => {
    begun();
    return loading;
  };
  const port = new HttpPort(load, {}, undefined);
  await port.open('127.0.0.1', 0);
  const client = connect(port.port, '127.0.0.1');
  client.write('PUT /cut HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{');
  await begins;
  client.destroy();
  while (port.connections > 0) await new Promise((resolve) => setImmediate(resolve));
  const answered: unknown[] = [];
  isLoaded(({ url }, response) => {
    answered.push(url);
    response.end();
  });
  await talk(port, '/whole');
  expect(answered).toEqual(['/whole']);
  await port.close();
});

it('closed at once loads nothing', async () => {
  let loads = 0;
  const port = new HttpPort(() => Promise.reject(new Error(`load ${++loads}`)), {}, undefined);
  await port.open('127.0.0.1', 0);
  await port.close();
  await eventLoop.next();
  expect(loads).toBe(0);
});

it('reports once that what answers requests cannot be loaded, and refuses each request', async () => {
  const errors: unknown[] = [];
  const fault = new Error('a file of the package is missing');
  const port = new HttpPort(
    () => Promise.reject(fault),
    {},
    (error) => void errors.push(error),
  );
  await port.open('127.0.0.1', 0);
  for (const path of ['/', '/api/whoami'])
    expect(await talk(port, path)).toMatch(/^HTTP\/1.1 503 [^]*could not be loaded: see the log/);
  expect(errors).toEqual([fault]);
  await port.close();
});
