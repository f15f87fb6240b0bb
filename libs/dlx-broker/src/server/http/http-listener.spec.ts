import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiHarness, type ApiHarness } from '../../../../../test/harnesses/api-harness.js';
import { type HttpListener, listenHttp } from './http-listener.js';

const guest = `Basic ${Buffer.from('guest:guest').toString('base64')}`;

describe('the HTTP listener', () => {
  let harness: ApiHarness;
  let listener: HttpListener;
  beforeEach(async () => {
    harness = apiHarness();
    listener = await listenHttp(harness.host, { port: 0 });
  });
  afterEach(() => listener.close());

  const url = (path: string): string => `http://127.0.0.1:${listener.port}/api${path}`;

  it('answers who one is, on loopback', async () => {
    expect(listener.host).toBe('127.0.0.1');
    const response = await fetch(url('/whoami'), { headers: { authorization: guest } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ name: 'guest', tags: ['administrator'] });
  });

  it('makes, shows and deletes a virtual host', async () => {
    const ask = async (method: string, path: string, body?: string) => {
      const response = await fetch(url(path), { method, headers: { authorization: guest }, body: body ?? null });
      return [response.status, await response.text()] as const;
    };
    expect(await ask('PUT', '/vhosts/a%2Fb', '{}')).toEqual([201, '']);
    expect(await ask('PUT', '/vhosts/a%2Fb')).toEqual([204, '']);
    expect((await ask('GET', '/vhosts?columns=name'))[1]).toBe('[{"name":"/"},{"name":"a/b"}]');
    expect(await ask('DELETE', '/vhosts/a%2Fb')).toEqual([204, '']);
    expect(await ask('DELETE', '/vhosts/a%2Fb')).toEqual([404, '{"error":"Object Not Found","reason":"Not Found"}']);
  });

  it('takes a path as it came: a name may be two dots', async () => {
    const socket = connect(listener.port, '127.0.0.1');
    const request = (method: string) =>
      `${method} /api/vhosts/%2e%2e HTTP/1.1\r\nhost: localhost\r\nauthorization: ${guest}\r\nconnection: close\r\n\r\n`;
    socket.end(request('PUT'));
    const answer = await new Promise<string>((resolve) => {
      let all = '';
      socket.on('data', (bytes: Buffer) => (all += bytes.toString()));
      socket.on('close', () => resolve(all));
    });
    expect(answer).toMatch(/^HTTP\/1.1 201 /);
    expect([...harness.broker.virtualHosts.keys()]).toEqual(['/', '..']);
  });

  it('says what the system says when the port is taken', async () => {
    await expect(listenHttp(harness.host, { port: listener.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
