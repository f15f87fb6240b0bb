import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { BrowsePage } from '../../libs/dlx-broker/src/backends/index.js';
import { Policies } from '../../libs/dlx-broker/src/backends/rabbitmq/declarations/policies.js';
import { browsingOver, listingOver } from '../../libs/dlx-broker/src/backends/rabbitmq/management.js';
import { callHttp, policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';

const secret = 'p4ssw0rd';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A management API that answers as the test says. */
async function answering(answer: RequestListener) {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${port}`, user: 'guest', password: secret, virtualHost: '/' };
}

const always = (body: unknown): ReturnType<typeof answering> =>
  answering((_, response) => response.end(typeof body === 'string' ? body : JSON.stringify(body)));

const queue = { name: 'q', durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
const rules = { own: [], patterns: policyPatterns, isStrict: true, warn: () => undefined };

/** Every question of the backend. */
const questions: readonly (readonly [string, (api: Awaited<ReturnType<typeof answering>>) => Promise<unknown>])[] = [
  ['queues', (api) => listingOver(api, '/').queueNames()],
  ['messages', (api) => browsingOver(api, '/').browse('q', 10)],
  ['policies', (api) => new Policies(rules).look(api, [queue])],
];

const message = {
  id: '1',
  exchange: '',
  routing_key: 'q',
  properties: {},
  headers: {},
  payload: '',
  payload_truncated: false,
};
const page = (...items: unknown[]): unknown => ({ items, cursor: null });
const deep = `${'{"type":"array","value":['.repeat(20_000)}${']}'.repeat(20_000)}`;

describe('a management API that answers nonsense fails the question with an error that names it, and shows neither answer nor password', () => {
  const nonsense = [
    '<html>hello</html>',
    '[',
    '[null]',
    '[7]',
    '[{"name":{"a":1}}]',
    '{"items":7}',
    '{"items":[null]}',
  ];
  it.each(questions.flatMap(([what, ask]) => nonsense.map((text) => [what, text, ask] as const)))(
    '%s: %s',
    async (_, text, ask) => {
      const api = await always(text);
      const failure = (await ask(api).catch((error: unknown) => error)) as Error;
      expect(failure).toMatchObject({ name: 'ServerError' });
      expect(failure.message).toContain(api.base);
      expect(failure.message).not.toMatch(/hello|p4ssw0rd|undefined|null/);
    },
  );

  it.each([
    ['a header of another form', page({ ...message, headers: { a: null } })],
    ['a number that is none', page({ ...message, headers: { a: { type: 'long', value: 'many' } } })],
    [
      'headers that are nested too deeply',
      JSON.stringify(page({ ...message, headers: { a: 0 } })).replace('"a":0', `"a":${deep}`),
    ],
    ['a cursor of another form', { items: [], cursor: { a: 1 } }],
  ])('a message with %s', async (_, body) => {
    const failure = browsingOver(await always(body), '/').browse('q', 10);
    await expect(failure).rejects.toMatchObject({ name: 'ServerError', message: expect.stringContaining("queue 'q'") });
  });

  it('a page that leads to itself', async () => {
    const api = await always({ items: [message], cursor: 'same' });
    const first: BrowsePage = await browsingOver(api, '/').browse('q', 10);
    await expect(browsingOver(api, '/').browse('q', 10, first.next)).rejects.toMatchObject({ name: 'ServerError' });
  });

  it('headers called __proto__ are headers', async () => {
    const headers = JSON.parse('{"__proto__":{"type":"longstr","value":"x"}}') as object;
    const { messages } = await browsingOver(await always(page({ ...message, headers })), '/').browse('q', 10);
    expect([...messages[0]!.properties.headers!.keys()]).toEqual(['__proto__']);
    expect(({} as { readonly value?: unknown }).value).toBeUndefined();
  });

  it('a redirect is not followed, so the login goes nowhere else', async () => {
    const logins: unknown[] = [];
    const other = await answering(({ headers }, response) => {
      logins.push(headers.authorization);
      response.end('[]');
    });
    const api = await answering((_, response) => response.writeHead(302, { location: other.base }).end());
    await expect(listingOver(api, '/').queueNames()).rejects.toThrow('answers 302');
    expect(logins).toEqual([]);
  });
});

it('an answer without an end is cut off, and its connection closed', async () => {
  let open: ServerResponse | undefined;
  let sent = 0;
  const chunk = Buffer.alloc(65_536, ' ');
  const api = await answering((_, response) => {
    open = response;
    const more = (): void => {
      while (!response.destroyed && sent < 67_108_864) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
    };
    more();
  });
  const asked = callHttp(api, { method: 'GET', path: ['api'], maxBytes: 1_000_000, timeout: 5_000 });
  await expect(asked).rejects.toThrow('its answer is longer than 1000000 bytes');
  await expect.poll(() => open?.destroyed).toBe(true);
  expect(sent).toBeLessThan(67_108_864);
});

it('a reason of the API is shown on one line, without escape sequences', async () => {
  const api = await answering((_, response) =>
    response.writeHead(400).end(JSON.stringify({ reason: '\u001b[31mred\nERROR a line of its own' })),
  );
  const asked = listingOver(api, '/').queueNames();
  await expect(asked).rejects.toThrow(': \\x1b[31mred ERROR a line of its own');
});
