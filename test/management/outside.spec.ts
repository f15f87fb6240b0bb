import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHouse } from './harness.js';

let harness: Harness;
beforeAll(async () => void (harness = await openHouse()));
afterAll(() => harness.close());

const real = process.env['RABBITMQ_MANAGEMENT_URL'];
const login = 'Authorization: Basic Z3Vlc3Q6Z3Vlc3Q=';

/** Sends the lines of a request, and reads until the server ends the connection. @returns status and location */
function said(port: number, ...lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket.on('data', (bytes) => (text += bytes.toString()));
    socket.on('error', reject).on('close', () => {
      resolve([/ (\d+)/.exec(text)?.[1], /^location: (.*?)\r/im.exec(text)?.[1] ?? ''].join(' '));
    });
  });
}

const ask = (...lines: string[]): Promise<string[]> => {
  const ports = [harness.httpPort, ...(real === undefined ? [] : [Number(new URL(real).port)])];
  return Promise.all(ports.map((port) => said(port, ...lines)));
};

describe.each<[string, string, ...string[]]>([
  ['200 ', 'GET /api/whoami HTTP/1.0', login],
  ['200 ', 'GET /api/health/checks/alarms HTTP/1.0', login],
  ['200 ', 'GET /api/whoami HTTP/1.0', 'Host: ', login],
  ['401 ', 'GET /api/whoami HTTP/1.0'],
  ['200 ', 'OPTIONS /api/whoami HTTP/1.0'],
  ['400 ', 'GET /api/whoami HTTP/1.1', login],
  ['301 /api/index.html', 'GET /api HTTP/1.0'],
  ['301 /api/index.html', 'POST /api/ HTTP/1.0'],
  ['301 /api/index.html', 'GET /doc/stats.html HTTP/1.0'],
  ['301 /cli/index.html', 'GET /cli HTTP/1.0'],
  ['301 /cli/index.html', 'GET /cli/ HTTP/1.0'],
  ['301 /', 'GET /mgmt HTTP/1.0'],
  ['301 /', 'GET /mgmt/ HTTP/1.0'],
  ['200 ', 'GET /api/index.html HTTP/1.0'],
  ['200 ', 'GET /cli/index.html HTTP/1.0'],
  ['404 ', 'GET /doc HTTP/1.0'],
])('RabbitMQ answers %s', (answer, ...lines) => {
  it(`to ${lines.join(', ')}`, async () => {
    for (const each of await ask(...lines)) expect(each).toBe(answer);
  });
});

it('the script rabbitmqadmin is a part of RabbitMQ only', async () => {
  expect((await ask('GET /cli/rabbitmqadmin HTTP/1.0'))[0]).toBe('404 ');
});
