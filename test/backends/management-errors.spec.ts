import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Policies } from '../../libs/dlx-broker/src/backends/rabbitmq/declarations/policies.js';
import { callManagement } from '../../libs/dlx-broker/src/backends/rabbitmq/management.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

async function portOf(server: Server | HttpServer): Promise<{ base: string; user: string; password: string }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, user: 'ada', password: 'secret' };
}

/** A management API with one answer. */
const answering = (status: number, body: object) =>
  portOf(createHttpServer((_, response) => response.writeHead(status).end(JSON.stringify(body))));

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it succeeded',
    (error: Error) => error.message,
  );

describe('the error of a call of a management API', () => {
  const wrong = /; the user 'ada' or its password is wrong: correct them in option 'management' of rabbitmq\(\)/;
  const tag = /the user 'ada' needs the tag 'policymaker'$/;
  it.each([
    ['a wrong password', 401, { error: 'not_authorised', reason: 'Login failed' }, wrong],
    ['a wrong password on RabbitMQ 4', 401, { error: 'not_authorized', reason: 'Not_Authorized' }, wrong],
    ['an unknown user', 401, { error: 'not_authorized' }, wrong],
    ['a user without the tag', 401, { error: 'not_authorised', reason: 'Not policymaker user' }, tag],
    ['a user without rights', 403, { error: 'forbidden' }, tag],
  ])('names the remedy for %s', async (_, status, body, remedy) => {
    const text = await failureOf(callManagement(await answering(status, body), 'PUT', ['policies', '/', 'p'], {}, {}));
    expect(text).toMatch(remedy);
    expect(text).not.toMatch(remedy === tag ? /password/ : /needs/);
  });

  it('has no remedy for a user who may log in from the machine of the server only', async () => {
    const reason = 'User can only log in via localhost';
    const api = await answering(401, { error: 'not_authorised', reason });
    expect(await failureOf(callManagement(api, 'GET', ['queues']))).toMatch(/User can only log in via localhost$/);
  });

  it('names the port where another protocol answers', async () => {
    const amqp = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.from('AMQP\0\0\x09\x01')));
    });
    const text = await failureOf(callManagement(await portOf(amqp), 'GET', ['queues']));
    expect(text).toMatch(
      /does not answer: its answer is not HTTP; name the port of the management API, not that of AMQP$/,
    );
  });

  it('shows the reason of a refused policy on one line, and the key that was meant', async () => {
    const reason = 'Validation failed\n\n&lt;&lt;"max-lenght"&gt;&gt; is not recognised as a policy key\n\n';
    const place = { ...(await answering(400, { error: 'bad_request', reason })), virtualHost: '/' };
    const own = [{ name: 'bounded', pattern: '.*', definition: { 'max-lenght': 5, 'dead-letter-exchange': 'd' } }];
    const policies = new Policies({ own, patterns: policyPatterns, isStrict: true, warn: () => undefined });
    const text = await failureOf(policies.put(place));
    expect(text).toMatch(/^policy 'bounded' of option 'policies' of rabbitmq\(\) was not put: /);
    expect(text).toMatch(
      /: Validation failed <<"max-lenght">> is not recognised as a policy key; did you mean 'max-length'\?$/,
    );
  });
});
