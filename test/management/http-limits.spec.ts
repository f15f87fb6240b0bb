import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { apiHarness, type ApiHarness } from '../harnesses/api-harness.js';
import { type HttpLimits, type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/http/http-listener.js';

const guest = `authorization: Basic ${Buffer.from('guest:guest').toString('base64')}`;
const head = (line: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'host: localhost', guest, ...headers, '', ''].join('\r\n');

interface Talk {
  readonly socket: Socket;
  /** All that came, once the server has ended the connection. */
  readonly ended: Promise<string>;
}

describe('a client that', () => {
  let listener: HttpListener;
  let harness: ApiHarness;
  afterEach(() => listener.close());

  async function open(limits: Partial<HttpLimits>, bodyLimit = 1_000): Promise<() => Talk> {
    harness = apiHarness();
    listener = await listenHttp(harness.host, { port: 0, limits, bodyLimit });
    return () => {
      const socket = connect(listener.port, '127.0.0.1');
      const ended = new Promise<string>((resolve) => {
        let all = '';
        socket.on('data', (bytes: Buffer) => (all += bytes.toString()));
        socket.on('error', () => {});
        socket.on('close', () => resolve(all));
      });
      return { socket, ended };
    };
  }

  it('sends nothing is sent away', async () => {
    const talk = (await open({ headersTimeout: 100 }))();
    expect(await talk.ended).toMatch(/^(HTTP\/1.1 408 .*)?/);
  });

  it('sends its headers letter by letter is sent away (slow loris)', async () => {
    const { socket, ended } = (await open({ headersTimeout: 200 }))();
    const timer = setInterval(() => socket.write('x'), 20);
    socket.write('GET /api/whoami HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
    expect(await ended).toMatch(/^HTTP\/1.1 408 /);
    clearInterval(timer);
  });

  it('sends its body letter by letter is sent away, and has changed nothing', async () => {
    const { socket, ended } = (await open({ headersTimeout: 100, requestTimeout: 200 }))();
    socket.write(`${head('PUT /api/vhosts/slow', 'content-length: 900')}{`);
    const timer = setInterval(() => socket.write(' '), 20);
    await ended;
    clearInterval(timer);
    expect([...harness.broker.virtualHosts.keys()]).toEqual(['/']);
  });

  it('sends headers without end is refused (431)', async () => {
    const { socket, ended } = (await open({ maxHeaderSize: 2_000 }))();
    socket.write(head('GET /api/whoami', `x-long: ${'x'.repeat(3_000)}`));
    expect(await ended).toMatch(/^HTTP\/1.1 431 /);
  });

  it('announces more than it may send is refused before it sends it', async () => {
    const { socket, ended } = (await open({}))();
    socket.write(head('PUT /api/vhosts/big', 'content-length: 100000000', 'connection: close'));
    expect(await ended).toMatch(/^HTTP\/1.1 400 [^]*Exceeded HTTP request body size limit/);
  });

  it('sends pieces without end is stopped on the way', async () => {
    const { socket, ended } = (await open({}))();
    let sent = 0;
    socket.write(head('PUT /api/vhosts/big', 'transfer-encoding: chunked', 'connection: close'));
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const more = (): void => {
      while (!socket.destroyed && sent < 200_000_000) {
        sent += piece.length;
        if (!socket.write(piece)) return void socket.once('drain', more);
      }
      socket.end();
    };
    more();
    expect(await ended).toMatch(/^HTTP\/1.1 400 /);
    expect(sent).toBeLessThan(50_000_000);
  });

  it.each([
    ['both lengths', ['content-length: 5', 'transfer-encoding: chunked']],
    ['two lengths', ['content-length: 5', 'content-length: 6']],
    ['a header with a line end in it', ['x: a\nb: c\u0000']],
  ])('sends %s is not understood (request smuggling)', async (_, headers) => {
    const { socket, ended } = (await open({}))();
    socket.write(`${head('PUT /api/vhosts/smuggled', ...headers)}0\r\n\r\n${head('PUT /api/vhosts/inner')}`);
    expect(await ended).toMatch(/^HTTP\/1.1 400 /);
    expect([...harness.broker.virtualHosts.keys()]).toEqual(['/']);
  });

  // A silent connection kept it out before; now that one goes, and only those that are being answered stay.
  it('comes when there are too many takes the place of a silent one, and is not let in beside busy ones', async () => {
    const talk = await open({ connections: 2 });
    const [one, two] = [talk(), talk()];
    one.socket.write(head('GET /api/dlx/events'));
    await new Promise((resolve) => one.socket.once('data', resolve));
    const three = talk();
    three.socket.write(head('GET /api/dlx/events'));
    await new Promise((resolve) => three.socket.once('data', resolve));
    expect(await two.ended).toBe('');
    const four = talk();
    four.socket.write(head('GET /api/whoami'));
    expect(await four.ended).toBe('');
    one.socket.destroy();
    three.socket.destroy();
    await Promise.all([one.ended, three.ended]);
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${listener.port}/api/x`)).status).toBe(404);
  });

  it('asks in the old way, without a host, is answered as by RabbitMQ', async () => {
    const { socket, ended } = (await open({}))();
    socket.write(`GET /api/whoami HTTP/1.0\r\n${guest}\r\n\r\n`);
    expect(await ended).toMatch(/^HTTP\/1.1 200 /);
  });

  it('goes away in the middle is nothing to speak of', async () => {
    const logged: unknown[] = [];
    harness = apiHarness({ host: { log: (error) => void logged.push(error) } });
    listener = await listenHttp(harness.host, { port: 0 });
    const socket = connect(listener.port, '127.0.0.1');
    socket.write(`${head('PUT /api/vhosts/half', 'content-length: 900')}{`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(logged).toEqual([]);
    expect([...harness.broker.virtualHosts.keys()]).toEqual(['/']);
  });

  it.each(['//', '/api', '*', 'http://evil.example/api/whoami', '/api/../api/whoami', '/api/%00', '/\\evil'])(
    'asks for %s is answered',
    async (path) => {
      const { socket, ended } = (await open({}))();
      socket.write(head(`GET ${path}`, 'connection: close'));
      expect(await ended).toMatch(path === '/api' ? /^HTTP\/1.1 301 / : /^HTTP\/1.1 4\d\d /);
    },
  );
});
