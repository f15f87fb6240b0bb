import { describe, expect, it } from 'vitest';
import { type Field, type FieldTable, int32, int64, longstr, type Properties } from '../../message/index.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { amount } from '../../../../../../test/amounts.js';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { refusalOf } from '../../../../../../test/harnesses/refusal-of.js';
import { Broker, type VirtualHost } from '../broker.js';
import type { DelayedMessages } from './delayed-messages.js';

// As the README of RabbitMQ's delayed-message plugin and its checks have it: an exchange of the type x-delayed-message
// routes like the type its argument x-delayed-type names, as many milliseconds later as the header x-delay says.

const delayed = (type: string): FieldTable => new Map([['x-delayed-type', longstr(type)]]);

/** A delayed exchange `later` bound to the queue `work`. */
function arrange(type = 'direct', bindingKey = 'go') {
  const clock = new ManualClock();
  const patterns = { compile: () => ({ matches: () => true }) };
  const broker = new Broker({ clock, names: new CountedNames(), patterns });
  const vhost: VirtualHost = broker.virtualHost('/');
  const listener = listen(broker);
  const { channel } = listener;
  channel.declareExchange('later', { type: 'x-delayed-message', arguments: delayed(type) });
  channel.declareQueue('work');
  channel.bindQueue('work', 'later', bindingKey);
  const start = clock.now();
  const publish = (body: string, delay?: Field | number, properties: Properties = {}): void => {
    const field = typeof delay === 'number' ? int32(delay) : delay;
    const headers = field && new Map([['x-delay', field]]);
    publishText(channel, 'later', 'go', body, { ...properties, ...(headers && { headers }) });
  };
  const bodies = (queue = 'work'): string[] => {
    const found: string[] = [];
    vhost.queues.get(queue)!.peek(({ message }) => void found.push(Buffer.from(message.body).toString()));
    return found;
  };
  const hold = (): DelayedMessages => vhost.exchange('later').delayed!;
  const passed = (): number => clock.now() - start;
  return { ...listener, broker, vhost, clock, publish, bodies, hold, passed, start };
}

describe('a delayed exchange is declared', () => {
  it.each([
    ['without the type it routes by', undefined, 406, 'must be an existing exchange type'],
    ['with a type that is no text', int32(7), 406, 'must be an existing exchange type'],
    ['with a type there is not', longstr('x-none'), 406, "unknown exchange type 'x-none'"],
    ['with its own type', longstr('x-delayed-message'), 406, "can't be used for 'x-delayed-type'"],
  ])('not %s', (_case, type, code, text) => {
    const { channel, vhost } = arrange();
    const args = new Map(type === undefined ? [] : [['x-delayed-type', type] as const]);
    const error = refusalOf(() => channel.declareExchange('other', { type: 'x-delayed-message', arguments: args }))!;
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(text);
    expect(vhost.exchanges.has('other')).toBe(false);
  });

  it('again as any other, and not as another type (rule P2)', () => {
    const { channel } = arrange();
    channel.declareExchange('later', { type: 'x-delayed-message', arguments: delayed('direct') });
    const error = refusalOf(() => channel.declareExchange('later', { type: 'direct' }))!;
    expect(error.message).toContain("inequivalent arg 'type' for exchange 'later'");
  });

  it('and its bindings are checked as its type wants them (rule P8)', () => {
    const { channel } = arrange('headers');
    const args = new Map([['x-match', longstr('some')]]);
    expect(refusalOf(() => channel.bindQueue('work', 'later', '', args))!.message).toContain('x-match');
  });
});

describe('a delayed exchange', () => {
  it('holds a message for exactly its delay', () => {
    const { clock, publish, bodies, hold, start } = arrange();
    publish('one', 5_000);
    expect(hold()).toMatchObject({ count: 1, bytes: 3, nextDue: start + 5_000 });
    clock.advance(4_999);
    expect(bodies()).toEqual([]);
    clock.advance(1);
    expect(bodies()).toEqual(['one']);
    expect(hold()).toMatchObject({ count: 0, bytes: 0, nextDue: undefined });
  });

  it('does not delay a message because of an earlier one with a longer delay', () => {
    const { clock, publish, bodies } = arrange();
    for (const delay of [500, 100, 300, 200, 100, 400]) publish(String(delay), delay);
    clock.advance(500);
    expect(bodies()).toEqual(['100', '100', '200', '300', '400', '500']);
  });

  it('publishes messages with the same due time in the order of their arrival', () => {
    const { clock, publish, bodies } = arrange();
    for (let index = 0; index < 50; index++) publish(`a${index}`, 100);
    clock.advance(40);
    for (let index = 0; index < 50; index++) publish(`b${index}`, 60);
    clock.advance(60);
    const inOrder = (letter: string): string[] => Array.from({ length: 50 }, (_, index) => `${letter}${index}`);
    expect(bodies()).toEqual([...inOrder('a'), ...inOrder('b')]);
  });

  it.each<[string, Field]>([
    ['an int8', { type: 'b', value: 100 }],
    ['an unsigned int8', { type: 'B', value: 100 }],
    ['an int16', { type: 's', value: 100 }],
    ['an unsigned int16', { type: 'u', value: 100 }],
    ['an int32', int32(100)],
    ['an unsigned int32', { type: 'i', value: 100 }],
    ['an int64', int64(100)],
    ['a large int64', int64(100n)],
    ['a text', longstr('100')],
    ['a double', { type: 'd', value: 100.9 }],
    ['a decimal', { type: 'D', value: { scale: 1, value: 1009 } }],
  ])('takes %s for a delay, and answers with it negated', (_name, delay) => {
    const { clock, publish, bodies, vhost } = arrange();
    publish('one', delay);
    clock.advance(99);
    expect(bodies()).toEqual([]);
    clock.advance(1);
    expect(bodies()).toEqual(['one']);
    let header: Field | undefined;
    vhost.queues.get('work')!.peek(({ message }) => void (header = message.properties.headers?.get('x-delay')));
    expect(header).toEqual(int32(-100));
  });

  it.each<[string, Field | undefined]>([
    ['none', undefined],
    ['0', int32(0)],
    ['a negative one', int32(-5_000)],
    ['one above 2^32 - 1', int64(4_294_967_296)],
    ['a text that is no number', longstr('soon')],
    ['an empty text', longstr('')],
    ['a timestamp', { type: 'T', value: 100 }],
    ['a truth value', { type: 't', value: true }],
    ['a double that is no number', { type: 'd', value: NaN }],
  ])('routes at once and changes nothing when the delay is %s', (_name, delay) => {
    const { publish, bodies, vhost } = arrange();
    publish('one', delay);
    expect(bodies()).toEqual(['one']);
    let header: Field | undefined;
    vhost.queues.get('work')!.peek(({ message }) => void (header = message.properties.headers?.get('x-delay')));
    expect(header).toEqual(delay);
  });

  it('holds for up to 2^32 - 1 ms', () => {
    const { clock, publish, bodies } = arrange();
    publish('one', int64(4_294_967_295));
    clock.advance(4_294_967_294);
    expect(bodies()).toEqual([]);
    clock.advance(1);
    expect(bodies()).toEqual(['one']);
  });

  it('routes by the bindings of the moment the delay is over', () => {
    const { channel, clock, publish, bodies } = arrange('topic', 'go');
    channel.declareQueue('new');
    publish('one', 100);
    channel.unbindQueue('work', 'later', 'go');
    channel.bindQueue('new', 'later', '#');
    clock.advance(100);
    expect([bodies('work'), bodies('new')]).toEqual([[], ['one']]);
  });

  it.each([
    ['topic', 'g*', []],
    ['topic', '*', ['one']],
    ['fanout', 'other', ['one']],
    ['direct', 'other', []],
  ])('routes as its type %s does with the key %s', (type, key, found) => {
    const { clock, publish, bodies } = arrange(type, key);
    publish('one', 10);
    clock.advance(10);
    expect(bodies()).toEqual(found);
  });

  it('passes on to other exchanges, and a second one does not delay again', () => {
    const { channel, clock, publish, bodies } = arrange('fanout', 'none');
    channel.declareExchange('second', { type: 'x-delayed-message', arguments: delayed('fanout') });
    channel.declareQueue('end');
    channel.bindExchange('second', 'later', '');
    channel.bindQueue('end', 'second', '');
    publish('one', 100);
    clock.advance(100);
    expect(bodies('end')).toEqual(['one']);
  });

  it('delays what comes by a binding from another exchange, beside what that one sends on', () => {
    const { channel, clock, bodies } = arrange('fanout', '');
    channel.declareExchange('front', { type: 'fanout' });
    channel.declareQueue('beside');
    channel.bindQueue('beside', 'front', '');
    channel.bindExchange('later', 'front', '');
    publishText(channel, 'front', '', 'one', { headers: new Map([['x-delay', int32(100)]]) });
    expect([bodies('beside'), bodies('work')]).toEqual([['one'], []]);
    clock.advance(100);
    expect([bodies('beside'), bodies('work')]).toEqual([['one'], ['one']]);
  });

  it('routes by further keys too (rules G2, G3)', () => {
    const { channel, clock, bodies } = arrange();
    channel.declareQueue('copied');
    channel.bindQueue('copied', 'later', 'cc');
    channel.declareQueue('blind');
    channel.bindQueue('blind', 'later', 'bcc');
    const headers = new Map<string, Field>([
      ['x-delay', int32(100)],
      ['CC', { type: 'A', value: [longstr('cc')] }],
      ['BCC', { type: 'A', value: [longstr('bcc')] }],
    ]);
    publishText(channel, 'later', 'go', 'one', { headers });
    clock.advance(100);
    expect([bodies(), bodies('copied'), bodies('blind')]).toEqual([['one'], ['one'], ['one']]);
  });

  it('changes no other header', () => {
    const { channel, clock, vhost } = arrange();
    const headers = new Map<string, Field>([
      ['first', longstr('1')],
      ['x-delay', int64(3_000_000_000)],
      ['last', int32(2)],
    ]);
    publishText(channel, 'later', 'go', 'one', { headers });
    clock.advance(3_000_000_000);
    let found: FieldTable | undefined;
    vhost.queues.get('work')!.peek(({ message }) => void (found = message.properties.headers));
    expect([...found!]).toEqual([
      ['first', longstr('1')],
      ['last', int32(2)],
      ['x-delay', int64(-3_000_000_000)],
    ]);
    expect([found!.size, found!.has('last'), found!.has('none'), [...found!.keys()]]).toEqual([
      3,
      true,
      false,
      ['first', 'last', 'x-delay'],
    ]);
  });

  it('asks its alternate exchange when the delay is over, not before', () => {
    const { channel, clock, bodies } = arrange();
    channel.declareExchange('else', { type: 'fanout' });
    channel.declareQueue('lost');
    channel.bindQueue('lost', 'else', '');
    const args = new Map([...delayed('direct'), ['alternate-exchange', longstr('else')] as const]);
    channel.declareExchange('other', { type: 'x-delayed-message', arguments: args });
    publishText(channel, 'other', 'nobody', 'one', { headers: new Map([['x-delay', int32(50)]]) });
    clock.advance(49);
    expect(bodies('lost')).toEqual([]);
    clock.advance(1);
    expect(bodies('lost')).toEqual(['one']);
  });

  it('confirms when it holds a message, and ignores mandatory', () => {
    const { channel, clock, confirms, returns } = arrange();
    channel.confirmSelect();
    const headers = new Map([['x-delay', int32(100)]]);
    channel.publish('later', 'nobody', { headers }, Buffer.from('one'), { mandatory: true });
    expect(confirms).toEqual(['ack 1']);
    clock.advance(100);
    expect(returns).toEqual([]);
  });

  it('begins the time to live of a message when it lets it go (rule B4)', () => {
    const { clock, publish, bodies } = arrange();
    publish('one', 1_000, { expiration: '100' });
    clock.advance(1_099);
    expect(bodies()).toEqual(['one']);
    clock.advance(1);
    expect(bodies()).toEqual([]);
  });

  it('delays dead letters too', () => {
    const { channel, clock, bodies, vhost } = arrange();
    const args = new Map([
      ['x-dead-letter-exchange', longstr('later')],
      ['x-dead-letter-routing-key', longstr('go')],
    ]);
    channel.declareQueue('dying', { arguments: args });
    publishText(channel, '', 'dying', 'one', { headers: new Map([['x-delay', int32(100)]]) });
    channel.reject(channel.get('dying')!.deliveryTag, false);
    expect(bodies()).toEqual([]);
    clock.advance(100);
    expect(bodies()).toEqual(['one']);
    let hasDied = false;
    vhost.queues.get('work')!.peek(({ message }) => void (hasDied = message.hasDied));
    expect(hasDied).toBe(true);
  });

  it.each(['itself', 'virtual host'])('drops what it holds when it goes with %s', (what) => {
    const { broker, channel, clock, publish, hold } = arrange();
    publish('one', 100);
    const held = hold();
    if (what === 'itself') channel.deleteExchange('later');
    else broker.removeVirtualHost('/');
    expect(held.count).toBe(0);
    expect(clock.nextWakeUp()).toBeUndefined();
    clock.advance(100);
  });

  it('counts what comes in at once, and what goes out when it does', () => {
    const { clock, publish, vhost } = arrange();
    publish('one', 100);
    const { counters } = vhost.exchange('later');
    expect(counters).toMatchObject({ publishIn: 1, publishOut: 0 });
    clock.advance(100);
    expect(counters).toMatchObject({ publishIn: 1, publishOut: 1 });
  });
});

describe('a delayed message can be cancelled by its message id', () => {
  it('while it is held: all of that id, and no other', () => {
    const { clock, publish, bodies, vhost, hold } = arrange();
    publish('a', 100, { messageId: 'same' });
    publish('b', 200, { messageId: 'other' });
    publish('c', 300, { messageId: 'same' });
    publish('d', 400);
    expect(vhost.cancelDelayed('later', 'same')).toBe(2);
    expect(vhost.cancelDelayed('later', 'same')).toBe(0);
    expect(hold()).toMatchObject({ count: 2, bytes: 2 });
    clock.advance(400);
    expect(bodies()).toEqual(['b', 'd']);
  });

  it('and the next is due then', () => {
    const { clock, publish, vhost, start } = arrange();
    publish('a', 100, { messageId: 'a' });
    publish('b', 200, { messageId: 'b' });
    vhost.cancelDelayed('later', 'a');
    expect(clock.nextWakeUp()).toBe(start + 200);
    vhost.cancelDelayed('later', 'b');
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('no more when it went on', () => {
    const { clock, publish, vhost } = arrange();
    publish('a', 100, { messageId: 'a' });
    clock.advance(100);
    expect(vhost.cancelDelayed('later', 'a')).toBe(0);
  });

  it('not of exchanges that delay nothing, or are not there', () => {
    const { vhost } = arrange();
    expect(refusalOf(() => vhost.cancelDelayed('amq.direct', 'a'))).toMatchObject({ code: 406 });
    expect(refusalOf(() => vhost.cancelDelayed('none', 'a'))).toMatchObject({ code: 404 });
  });

  it.each([2, 17, 1_000])('out of any place among %i', (count) => {
    const { clock, publish, bodies, vhost } = arrange();
    const delays = Array.from({ length: count }, (_, index) => 1 + ((index * 7_919) % count));
    for (const delay of delays) publish(String(delay), delay, { messageId: String(delay) });
    const kept = delays.filter((delay) => delay % 3 !== 0 || vhost.cancelDelayed('later', String(delay)) === 0);
    clock.advance(count);
    expect(bodies()).toEqual(kept.sort((one, other) => one - other).map(String));
  });
});

const many = amount('DELAYED_MESSAGES', 100_000, 1_000_000);

describe(`${many} messages with half as many different delays`, () => {
  it('come out by their times and then in the order they came, none waiting for another', { timeout: 60_000 }, () => {
    const { channel, clock, vhost, hold, passed } = arrange('fanout');
    const count = many;
    const delays = count / 2;
    const body = new Uint8Array();
    for (let index = 0; index < count; index++) {
      const delay = 1 + ((index * 611_953) % delays); // a prime: each twice
      channel.publish('later', String(index), { headers: new Map([['x-delay', int32(delay)]]) }, body);
    }
    expect(hold()).toMatchObject({ count, nextDue: clock.now() + 1 });
    const queue = vhost.queues.get('work')!;
    const arrived = (): { index: number; isInTime: boolean } => {
      const { message } = queue.take(clock.now())!;
      const isInTime = message.properties.headers?.get('x-delay')?.value === -passed();
      return { index: Number(message.routingKey), isInTime };
    };
    let wrong = 0;
    let seen = 0;
    while (clock.step(clock.now() + count)) {
      if (queue.length !== 2) wrong++;
      const first = arrived();
      const second = arrived();
      if (!first.isInTime || !second.isInTime || second.index !== first.index + delays) wrong++;
      seen += 2;
    }
    expect({ wrong, seen, left: hold().count }).toEqual({ wrong: 0, seen: count, left: 0 });
  });
});
