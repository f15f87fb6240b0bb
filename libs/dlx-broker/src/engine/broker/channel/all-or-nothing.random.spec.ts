import { expect, it } from 'vitest';
import { amount } from '../../../../../../test/amounts.js';
import { Random } from '../../../../../../test/fuzz/random.js';
import { harness } from '../../../nest/testing/harness.js';
import { array, type Field, type FieldTable, int32, int64, longstr } from '../../message/index.js';
import { AmqpError } from '../errors.js';
import { Outcome, silentOutbox } from '../ports.js';
import type { CommitPublication } from './all-or-nothing.js';

const rejecting = { 'x-overflow': 'reject-publish' };
const dying = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };

/** Queues of every kind that may refuse, drop or expire what is published to them. */
const queues: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  plain: {},
  dead: {},
  short: { 'x-max-length': 3, ...rejecting },
  small: { 'x-max-length-bytes': 6, ...rejecting },
  never: { 'x-max-length': 0, ...rejecting },
  dying: { 'x-max-length': 2, 'x-overflow': 'reject-publish-dlx', ...dying },
  dropping: { 'x-max-length': 2, ...dying },
  brief: { 'x-message-ttl': 0, ...dying }, // without a limit: what expires at once would count for it
  ranked: { 'x-max-priority': 3, 'x-max-length': 4, ...rejecting },
  quorum: { 'x-queue-type': 'quorum', 'x-max-length': 2, ...rejecting },
  strict: { 'x-queue-type': 'quorum', 'x-dead-letter-strategy': 'at-least-once', ...rejecting, ...dying },
};
const names = Object.keys(queues);

const fieldOf = (value: string | number): Field => (typeof value === 'string' ? longstr(value) : int32(value));
const table = (entries: Readonly<Record<string, string | number>>): FieldTable =>
  new Map(Object.entries(entries).map(([name, value]) => [name, fieldOf(value)]));

/** The same world for the same seed: exchanges with random bindings, queues that are filled at random, and a delivery in hand. */
function worldOf(seed: number) {
  const random = new Random(seed);
  const { broker, clock, queue } = harness();
  const channel = broker.connect().openChannel(silentOutbox);
  for (const [name, args] of Object.entries(queues)) {
    channel.declareQueue(name, { durable: true, arguments: table(args) });
  }
  const alternate = { arguments: table({ 'alternate-exchange': 'fanout' }) };
  channel.declareExchange('topic', { type: 'topic', ...(random.chance(0.5) ? alternate : {}) });
  channel.declareExchange('fanout', { type: 'fanout' });
  channel.declareExchange('later', { type: 'x-delayed-message', arguments: table({ 'x-delayed-type': 'topic' }) });
  for (let count = random.integer(0, 6); count > 0; count--) {
    channel.bindQueue(random.pick(names), random.pick(['topic', 'fanout', 'later']), random.pick(['#', 'k', 'k.*']));
  }
  if (random.chance(0.4)) channel.bindExchange('fanout', 'topic', 'k');
  for (let count = random.integer(0, 8); count > 0; count--) {
    channel.publishNow('', random.pick(names), {}, Buffer.from('old'));
  }
  channel.declareQueue('work', { durable: true });
  channel.publish('', 'work', {}, Buffer.from('cause'));
  const tag = channel.get('work')!.deliveryTag;
  /** No rule settles the order of dead letters that come from several queues. */
  const textsIn = (name: string): string[] => {
    const texts = queue(name)
      .messages()
      .map(({ body, deaths }) => `${Buffer.from(body).toString()} ${deaths[0]?.reason ?? ''}`);
    return name === 'dead' ? texts.toSorted() : texts;
  };
  const state = (): unknown => [
    channel.unackedCount,
    channel.isClosed,
    broker.virtualHost('/').exchanges.get('later')!.delayed!.count,
    names.map((name) => [name, ...textsIn(name)]),
  ];
  return { random, clock, channel, tag, state };
}

function publicationBy(random: Random, index: number): CommitPublication {
  const exchange = random.pick(['', '', '', 'topic', 'fanout', 'later', random.chance(0.2) ? 'missing' : 'topic']);
  const routingKey = exchange === '' ? random.pick([...names, 'nowhere']) : random.pick(['k', 'k.a', 'x']);
  const headers = new Map<string, Field>();
  if (random.chance(0.3)) headers.set(random.pick(['CC', 'BCC']), array([longstr(random.pick(names))]));
  if (exchange === 'later' && random.chance(0.7)) headers.set('x-delay', int64(1_000));
  const expiration = random.chance(0.1) ? random.pick(['5', 'soon']) : undefined;
  return {
    exchange,
    routingKey,
    properties: { headers, priority: random.integer(0, 4), deliveryMode: random.integer(1, 2), expiration },
    body: Buffer.from(`${index}`.repeat(random.integer(1, 3))),
    mandatory: random.chance(0.7),
  };
}

type World = ReturnType<typeof worldOf>;

/** Publishes one after the other, then acks. @returns the index of the first message that was not taken; undefined: all were */
function sequence({ channel, tag }: World, list: readonly CommitPublication[]): number | undefined {
  for (const [index, { exchange, routingKey, properties, body, mandatory }] of list.entries()) {
    try {
      const outcome = channel.publishNow(exchange, routingKey, properties, body);
      const isLost = (outcome & Outcome.Refused) !== 0 || (mandatory === true && (outcome & Outcome.Routed) === 0);
      if (isLost) return index;
    } catch (error) {
      if (error instanceof AmqpError) return index;
      throw error;
    }
  }
  channel.ack(tag);
  return undefined;
}

const seeds = amount('COMMIT_SEEDS', 400, 20_000);

it('rule K15: a commit does what the sequence of its steps would do, or nothing if one of these would fail', () => {
  const found = { done: 0, failed: 0, unroutable: 0, refused: 0 };
  for (let seed = 1; seed <= seeds; seed++) {
    const [one, other] = [worldOf(seed), worldOf(seed)];
    const list = Array.from({ length: one.random.integer(0, 6) }, (_, index) => publicationBy(one.random, index));
    const before = one.state();
    expect(before, `seed ${seed}`).toEqual(other.state());
    const result = one.channel.commitNow({ deliveryTag: one.tag, publications: list });
    const failedAt = sequence(other, list);
    found[result.outcome]++;
    expect('index' in result ? result.index : undefined, `seed ${seed}`).toBe(failedAt);
    expect(one.state(), `seed ${seed}: ${result.outcome}`).toEqual(failedAt === undefined ? other.state() : before);
    if (failedAt !== undefined) continue;
    for (const { clock } of [one, other]) clock.advance(2_000);
    expect(one.state(), `seed ${seed}, later`).toEqual(other.state());
  }
  expect(Math.min(...Object.values(found)), JSON.stringify(found)).toBeGreaterThan(10);
});
