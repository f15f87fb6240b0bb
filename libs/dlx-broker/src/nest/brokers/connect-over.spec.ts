import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connect } from './connect.js';
import { rabbitmq } from './rabbitmq.js';

describe('the console of an application on a server', () => {
  it('closes with the application, also while it waits for a server that does not answer', async () => {
    const waiting = new Set<Socket>();
    const silent = createServer((socket) => {
      waiting.add(socket);
      socket
        .resume()
        .on('error', () => undefined)
        .on('close', () => waiting.delete(socket));
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { readonly port: number };
    const connected = await connect(
      rabbitmq({
        urls: 'amqp://127.0.0.1:1',
        management: `http://shop:secret@127.0.0.1:${port}`,
        listen: { http: { port: 0 } },
      }),
      { levels: { consoleNotReady: 'off' } },
    );
    await connected.open(new Set());
    await expect.poll(() => waiting.size).toBe(1); // it asks what the server is
    await connected.close();
    await expect.poll(() => waiting.size).toBe(0); // an open request would keep the process alive
    silent.close();
  });
});
