import { describe, expect, it } from 'vitest';
import {
  type Field,
  type FieldTable,
  int32,
  longstr,
  NotedMessage,
  Notes,
  type Properties,
} from '../../message/index.js';
import { harness } from '../../../nest/testing/harness.js';
import { atLeastOnceTo } from '../../../../../../test/durability/at-least-once.js';
import { listen } from '../../../../../../test/harnesses/listener.js';
import { PendingLetter } from './dead-lettering.js';
import { Entry } from './entry.js';

/** A queue whose messages die when they are rejected, and what its dead letters say. */
function mortuary(args: readonly (readonly [string, Field])[] = []) {
  const { broker, clock } = harness();
  const { channel, deliveries } = listen(broker);
  channel.declareQueue('dead');
  channel.declareQueue('work', {
    arguments: new Map<string, Field>([
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('dead')],
      ...args,
    ]),
  });
  channel.declareExchange('x', { type: 'fanout' });
  channel.bindQueue('work', 'x', '');
  const publish = (properties: Properties, exchange = '', key = 'work'): void =>
    void channel.publish(exchange, key, properties, new Uint8Array());
  const reject = (headers?: FieldTable): void => {
    for (;;) {
      const got = channel.get('work');
      if (got === undefined) return;
      channel.reject(got.deliveryTag, false, headers);
    }
  };
  channel.consume('dead', { noAck: true });
  const letters = () => deliveries.map(({ message }) => message);
  return { clock, publish, reject, letters, dead: () => letters().map(({ properties }) => properties) };
}

const death = (properties: Properties | undefined): ReadonlyMap<string, Field> => {
  const field = properties?.headers?.get('x-death');
  const first = field?.type === 'A' ? field.value[0] : undefined;
  return first?.type === 'F' ? (first.value as ReadonlyMap<string, Field>) : new Map();
};

describe('messages that die alike within a second', () => {
  it('share the notes of their death, and keep their own headers (rule H3)', () => {
    const { publish, reject, letters, dead } = mortuary();
    const same = { contentType: 'text/plain' };
    const other = { ...same, messageId: 'own', expiration: '60000' };
    for (const properties of [same, same, other, same]) publish(properties);
    reject();
    const [one, two, three, four] = letters();
    expect([one?.own, two?.own, three?.own, four?.own]).toEqual([same, same, other, same]);
    expect(two?.own).toBe(one?.own);
    expect(new Set([one, two, three, four].map((letter) => letter?.notes)).size).toBe(1);
    const [first, , third, fourth] = dead();
    expect([third?.messageId, fourth?.messageId, fourth?.contentType]).toEqual(['own', undefined, 'text/plain']);
    expect([third?.expiration, death(third).get('original-expiration')]).toEqual([undefined, longstr('60000')]);
    expect(death(first).has('original-expiration')).toBe(false);
    expect(fourth).toEqual(first);
  });

  it.each<[string, (harness: ReturnType<typeof mortuary>) => void, string, unknown]>([
    ['a second later', ({ clock, publish }) => (clock.advance(1_000), publish({})), 'time', undefined],
    ['after another exchange', ({ publish }) => publish({}, 'x'), 'exchange', 'x'],
    ['with an expiration', ({ publish }) => publish({ expiration: '9000' }), 'original-expiration', '9000'],
    ['by another key', ({ publish }) => publish({}, 'x', 'k'), 'routing-keys', [longstr('k')]],
  ])('another one %s has its own (rule H5)', (_, next, field, value) => {
    const world = mortuary();
    world.publish({});
    world.reject();
    next(world);
    world.reject();
    const [one, two] = world.dead();
    expect(two?.headers).not.toBe(one?.headers);
    expect(death(two).get(field)).not.toEqual(death(one).get(field));
    if (value !== undefined) expect(death(two).get(field)?.value).toEqual(value);
  });

  it('a message that is rejected with headers does not share them', () => {
    const world = mortuary();
    world.publish({});
    world.reject();
    world.publish({});
    world.reject(new Map([['why', longstr('no reason')]]));
    world.publish({});
    world.reject();
    expect(world.dead().map(({ headers }) => headers?.get('why')?.value)).toEqual([undefined, 'no reason', undefined]);
  });

  it('one with carbon copies names them, the next one does not (rule H5)', () => {
    const world = mortuary();
    const cc: Properties = { headers: new Map([['CC', { type: 'A', value: [longstr('nowhere')] }]]) };
    for (const properties of [{}, cc, {}]) world.publish(properties);
    world.reject();
    const keys = world.dead().map((properties) => death(properties).get('routing-keys')?.value);
    expect(keys.map((value) => (value as readonly Field[]).length)).toEqual([1, 2, 1]);
  });

  it('keep their delay, but for one that is rejected with a delay of its own: messages read from a store share their notes', () => {
    const { broker } = harness();
    listen(broker).channel.declareQueue('work');
    const queue = broker.virtualHost('/').queues.get('work')!;
    const delayed = Notes.of(undefined, undefined, undefined, 5_000);
    const delayAfter = (headers?: FieldTable): number => {
      const entry = new Entry(new NotedMessage('', 'work', {}, new Uint8Array(), delayed), 1, 0);
      return queue.deadLettering.readdress(new PendingLetter(queue, entry, 'rejected', 0, '', 'dead', headers, false))
        .notes.delay;
    };
    const again = new Map([['x-delay', int32(100)]]);
    expect([delayAfter(), delayAfter(again), delayAfter()]).toEqual([5_000, 0, 5_000]);
  });
});

it('an at-least-once dead letter of a deleted queue is not routed again (rule A8)', () => {
  const { broker, clock } = harness();
  const { channel } = listen(broker);
  channel.declareExchange('fan', { type: 'fanout', durable: true });
  channel.declareQueue('work', { durable: true, arguments: atLeastOnceTo('fan') });
  channel.publish('', 'work', {}, Buffer.from('dead'));
  channel.reject(channel.get('work')!.deliveryTag, false);
  clock.advance(1_000);
  channel.deleteQueue('work');
  channel.declareQueue('late', { durable: true });
  channel.bindQueue('late', 'fan', '');
  clock.advance(600_000);
  expect(broker.virtualHost('/').queues.get('late')?.length).toBe(0);
});

it('rule C8: what a full queue without a dead-letter exchange refuses under reject-publish-dlx counts as maxlen, disabled', () => {
  const { broker } = harness();
  const { channel } = listen(broker);
  const full = new Map([
    ['x-max-length', int32(1)],
    ['x-overflow', longstr('reject-publish-dlx')],
  ]);
  channel.declareQueue('work', { arguments: full });
  for (let count = 0; count < 3; count++) channel.publish('', 'work', {}, Buffer.from('one'));
  expect(broker.virtualHost('/').globals.deaths(false, 'maxlen', 'disabled')).toBe(2);
});
