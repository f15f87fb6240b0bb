import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conversation, type Said } from './conversation.js';
import { type Harness, openHouse } from './harness.js';
import { type Ground, request } from './scene.js';

const rabbitmq = process.env['RABBITMQ_MANAGEMENT_URL'];
if (rabbitmq === undefined) console.warn('No RABBITMQ_MANAGEMENT_URL: nothing is compared with RabbitMQ');

const vhost = `dlx-test-objects-${process.pid}`;

/** The key of a binding with arguments ends with a hash, which each broker computes in its own way. */
const hashes = new Map<Ground, string>();

/** Status, body, and where something new is. */
async function say(ground: Ground, [method, path, body]: Said): Promise<object> {
  const place = path.replace('/V', `/${vhost}`).replace('{hash}', hashes.get(ground) ?? '');
  const { status, headers, text } = await request(ground, method, `/api${place}`, body);
  const plain = text.replaceAll(/rabbit@[\w-]+/g, 'rabbit@node').replaceAll(/~[\w-]{6}"/g, '~hash"');
  const location = headers.get('location') ?? undefined;
  const [, hash] = /k~([\w-]{6})$/.exec(location ?? '') ?? [];
  if (hash !== undefined) hashes.set(ground, hash);
  return {
    status,
    location: location?.replace(/~[\w-]{6}$/, '~hash'),
    allow: headers.get('allow') ?? undefined,
    body: plain === '' ? undefined : (JSON.parse(plain) as unknown),
  };
}

describe.skipIf(rabbitmq === undefined)('of objects RabbitMQ and we say the same:', () => {
  const theirs: Ground = { amqp: '', http: new URL(rabbitmq ?? 'http://localhost').origin };
  let ours: Harness;
  beforeAll(async () => {
    ours = await openHouse();
    for (const ground of [theirs, ours]) await request(ground, 'PUT', `/api/vhosts/${vhost}`);
  });
  afterAll(async () => {
    await request(theirs, 'DELETE', `/api/vhosts/${vhost}`);
    await ours.close();
  });

  // One conversation: what is said first is what later requests speak of, so nothing is said twice.
  describe.each(conversation)('%s', (_, all) => {
    it.each(all.map((said, at) => [titleOf(said, at), said] as const))('%s', { retry: 0 }, async (__, said) => {
      const [expected, actual] = [await say(theirs, said), await say(ours, said)];
      expect(actual).toEqual(expected);
    });
  });
});

const titleOf = ([method, path, body]: Said, at: number): string =>
  `${at}. ${method} ${path.slice(0, 60)} ${body === undefined ? '' : JSON.stringify(body).slice(0, 120)}`;
