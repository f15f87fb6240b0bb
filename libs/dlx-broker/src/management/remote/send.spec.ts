import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { LateAnswer } from '../../host/index.js';
import { serverAt } from './send.js';

describe('a request to the server of an application', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  /** A server that answers each request as it is said. */
  const arrange = async (answer: (response: ServerResponse) => void, signal?: AbortSignal) => {
    server = createServer((_, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return serverAt({ base, ...(signal && { signal }) });
  };
  /** Sends a byte again and again, so that no pause is long. */
  const drip = (response: ServerResponse): void => {
    const timer = setInterval(() => response.write(' '), 5);
    response.on('close', () => clearInterval(timer));
  };
  const get = { method: 'GET', path: '/api/whoami', headers: {} } as const;
  const read = (body: ReadableStream<Uint8Array>) => new Response(body).text();

  it('ends when the whole answer is not there in time, however it comes', async () => {
    const { send } = await arrange(drip);
    const { body } = await send({ ...get, within: 100 });
    await expect(read(body)).rejects.toThrow(new LateAnswer('no whole answer within 100 ms'));
  });

  it('ends when no answer begins in time', async () => {
    const { send } = await arrange(() => undefined);
    await expect(send({ ...get, within: 100 })).rejects.toThrow(LateAnswer);
  });

  it('ends with the application, before its answer and within it', async () => {
    const ending = new AbortController();
    let arrived = 0;
    const { send } = await arrange((response) => {
      arrived++;
      if (arrived === 2) drip(response);
    }, ending.signal);
    const first = send(get);
    first.catch(() => undefined);
    await expect.poll(() => arrived).toBe(1);
    const second = await send(get);
    ending.abort();
    await expect(first).rejects.toThrow();
    await expect(read(second.body)).rejects.toThrow();
    await expect(send(get)).rejects.toThrow();
    expect(arrived).toBe(2);
  });

  it('has no limit by itself, because an answer may be a stream', async () => {
    const { send } = await arrange((response) => response.end('{}'));
    const { status, body } = await send({ ...get, within: 60_000 });
    expect([status, await read(body)]).toEqual([200, '{}']);
  });
});
