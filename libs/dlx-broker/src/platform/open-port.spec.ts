import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { bind, opened } from './net.js';

describe('a port', () => {
  const portOf = (log: string[] = []) => {
    const server = createServer();
    return {
      server,
      log,
      open: (host: string, port: number) => bind(server, { host, port }, ({ message }) => void log.push(message)),
      close: async () => {
        log.push('closed');
        await new Promise((resolve) => server.close(resolve));
      },
      get number() {
        return (server.address() as { readonly port: number }).port;
      },
    };
  };

  it('that cannot be opened is closed, so that nothing of it is left', async () => {
    const first = await opened(portOf(), '127.0.0.1', 0);
    const second = portOf();
    await expect(opened(second, '127.0.0.1', first.number)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect([first.log, second.log]).toEqual([[], ['closed']]);
    await first.close();
  });

  it('hands on the errors of its server once it is open, which would end the process', async () => {
    const port = await opened(portOf(), '127.0.0.1', 0);
    port.server.emit('error', new Error('EMFILE'));
    expect(port.log).toEqual(['EMFILE']);
    await port.close();
  });
});
