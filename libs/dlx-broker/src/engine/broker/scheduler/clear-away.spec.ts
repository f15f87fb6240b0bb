import { describe, expect, it } from 'vitest';
import { longstr } from '../../message/index.js';
import { MemoryJournal } from '../../../../../../test/durability/memory-journal.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { Broker } from '../broker.js';
import type { Journal } from '../ports.js';
import { purgesPerStep } from '../queue/purging.js';

const budget = 100;
const many = 20_000;
const persistent = { deliveryMode: 2 };

function arrange(journal: Journal, slices = true) {
  const clock = new ManualClock();
  const resumes: (() => void)[] = [];
  const pace = { budget, later: (resume: () => void) => void resumes.push(resume) };
  const broker = new Broker({
    clock,
    names: new CountedNames(),
    patterns: { compile: () => ({ matches: () => true }) },
    journal,
    ...(slices ? { pace } : {}),
  });
  const turn = (): boolean => {
    const resume = resumes.shift();
    resume?.();
    return resume !== undefined;
  };
  const drain = (each = (): void => undefined): number => {
    let turns = 0;
    for (; turn(); turns++) each();
    return turns;
  };
  return { broker, ...listen(broker), turn, drain };
}

type Scene = ReturnType<typeof arrange>;

/** The number of settlements that the journal gets in a turn. */
function counted(journal: Journal) {
  const counts = { now: 0, most: 0 };
  const { settled } = journal;
  journal.settled = (...args) => {
    counts.most = Math.max(counts.most, ++counts.now);
    settled.apply(journal, args);
  };
  return counts;
}

function fill({ channel, drain }: Scene, args: Readonly<Record<string, string>> = {}): void {
  const table = new Map(Object.entries(args).map(([name, value]) => [name, longstr(value)]));
  channel.declareQueue('q', { durable: true, arguments: table });
  for (let n = 0; n < many; n++) publishText(channel, '', 'q', String(n), persistent);
  drain();
}

const bodiesOf = (broker: Broker): string[] => {
  const bodies: string[] = [];
  broker
    .virtualHost('/')
    .queues.get('q')
    ?.peek(({ message }) => void bodies.push(Buffer.from(message.body).toString()));
  return bodies;
};

describe('with a pace, a purge of very many messages', () => {
  it.each(['classic', 'quorum'])(
    'is done at once for clients, and cleared away in turns (rule O6): a %s queue',
    (type) => {
      const journal = new MemoryJournal();
      const scene = arrange(journal);
      fill(scene, { 'x-queue-type': type });
      const counts = counted(journal);
      const { channel, broker } = scene;
      expect(channel.purgeQueue('q')).toBe(many);
      const queue = broker.virtualHost('/').queues.get('q');
      expect([queue?.length, queue?.bytes, queue?.bytesUnacked]).toEqual([0, 0, 0]);
      let isDone = false;
      broker.virtualHost('/').scheduler.whenCleared(() => (isDone = true));
      expect(isDone).toBe(false);
      const turns = scene.drain(() => (counts.now = 0));
      expect(isDone).toBe(true);
      expect(counts.most).toBeLessThanOrEqual((budget / 2) * purgesPerStep);
      expect(turns).toBeGreaterThanOrEqual(many / counts.most);
      expect(queue?.persistent).toEqual({ count: 0, bytes: 0 });
    },
  );

  it('counts what is there, and leaves what is unacknowledged and what comes meanwhile', () => {
    const scene = arrange(new MemoryJournal());
    fill(scene);
    const { channel, broker } = scene;
    const got = channel.get('q');
    expect(channel.purgeQueue('q')).toBe(many - 1);
    publishText(channel, '', 'q', 'meanwhile', persistent);
    scene.turn();
    channel.nack(got?.deliveryTag ?? 0, false, true);
    expect(channel.purgeQueue('q')).toBe(2);
    publishText(channel, '', 'q', 'after', persistent);
    scene.drain();
    expect(bodiesOf(broker)).toEqual(['after']);
    expect(broker.virtualHost('/').queues.get('q')?.persistent.count).toBe(1);
  });

  it('does not keep the deliveries of others waiting', () => {
    const scene = arrange(new MemoryJournal());
    fill(scene);
    const other = listen(scene.broker);
    other.channel.declareQueue('other');
    other.channel.consume('other', { noAck: true });
    scene.channel.purgeQueue('q');
    for (let n = 0; scene.turn(); n++) {
      publishText(other.channel, '', 'other', 'x');
      expect(other.deliveries.length).toBeGreaterThanOrEqual(n);
    }
    expect(other.deliveries.length).toBeGreaterThan(10);
  });

  it('leaves the last ones after a crash in its midst, and was not answered (rule L1)', () => {
    const journal = new MemoryJournal();
    const scene = arrange(journal);
    fill(scene);
    const { scheduler } = scene.broker.virtualHost('/');
    const { sequence } = scheduler;
    scene.channel.purgeQueue('q');
    let isAnswered = false;
    scheduler.whenCleared(() => scheduler.onStored(sequence, () => (isAnswered = true)));
    for (let turns = 0; turns < 5; turns++) scene.turn();
    expect(isAnswered).toBe(false);
    const crashed = journal.fork();
    const after = arrange(crashed, false);
    crashed.restore(after.broker);
    const left = bodiesOf(after.broker);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(many);
    expect(left).toEqual(Array.from({ length: left.length }, (_, n) => String(many - left.length + n)));

    scene.drain();
    expect(isAnswered).toBe(true);
    const whole = journal.fork();
    const end = arrange(whole, false);
    whole.restore(end.broker);
    expect(bodiesOf(end.broker)).toEqual([]);
  });

  it('ends with its queue, and so does the wait for it', () => {
    const journal = new MemoryJournal();
    const scene = arrange(journal);
    fill(scene);
    scene.channel.purgeQueue('q');
    let isDone = false;
    scene.broker.virtualHost('/').scheduler.whenCleared(() => (isDone = true));
    scene.channel.deleteQueue('q');
    scene.channel.declareQueue('q', { durable: true });
    publishText(scene.channel, '', 'q', 'new', persistent);
    scene.drain();
    expect(isDone).toBe(true);
    const after = arrange(journal.fork(), false);
    journal.fork().restore(after.broker);
    expect(bodiesOf(after.broker)).toEqual(['new']);
  });
});

describe('with a pace, the end of a queue with very many bindings', () => {
  const bindings = 5_000;

  /** Queue `q` is bound to exchange `x`, `other` by the last of the same keys. */
  function bound(type: string) {
    const scene = arrange(new MemoryJournal());
    const { channel } = scene;
    channel.declareExchange('x', { type });
    channel.declareExchange('alternate', { type: 'fanout' });
    channel.declareQueue('q');
    channel.declareQueue('other');
    for (let n = 0; n < bindings; n++) channel.bindQueue('q', 'x', `key.${n}`, new Map([['n', longstr(String(n))]]));
    channel.bindQueue('other', 'x', `key.${bindings - 1}`, new Map([['n', longstr(String(bindings - 1))]]));
    scene.drain();
    return scene;
  }

  const publish = ({ channel }: Scene, n: number): void =>
    void channel.publish('x', `key.${n}`, { headers: new Map([['n', longstr(String(n))]]) }, Buffer.from('x'));

  it.each(['direct', 'topic', 'headers'])(
    'is seen by all clients at once, and the %s router forgets it in turns',
    (type) => {
      const scene = bound(type);
      const { channel, broker, returns } = scene;
      const vhost = broker.virtualHost('/');
      const exchange = vhost.exchanges.get('x');
      channel.deleteQueue('q');
      expect(vhost.queues.has('q')).toBe(false);
      expect(exchange?.bindingCount).toBe(1);
      expect(exchange?.bindings().map(({ destination }) => destination.name)).toEqual(['other']);
      // Its name is free, and another queue of that name has no binding.
      channel.declareQueue('q');
      channel.publish('x', 'key.5', { headers: new Map([['n', longstr('5')]]) }, Buffer.from('x'), { mandatory: true });
      publish(scene, bindings - 1);
      const turns = scene.drain(() => publish(scene, 7));
      expect(turns).toBeGreaterThanOrEqual(bindings / (budget / 2));
      expect(returns).toHaveLength(1);
      expect([vhost.queues.get('q')?.length, vhost.queues.get('other')?.length]).toEqual([0, 1]);
    },
  );

  it('deletes an auto-delete exchange at once (rule P4), and an alternate exchange gets what no queue wants (rule G6)', () => {
    const scene = arrange(new MemoryJournal());
    const { channel, broker } = scene;
    const vhost = broker.virtualHost('/');
    channel.declareExchange('alternate', { type: 'fanout' });
    channel.declareExchange('x', { type: 'topic', arguments: new Map([['alternate-exchange', longstr('alternate')]]) });
    channel.declareExchange('auto', { type: 'topic', autoDelete: true });
    for (const name of ['q', 'caught']) channel.declareQueue(name);
    channel.bindQueue('caught', 'alternate', '');
    for (let n = 0; n < bindings; n++) {
      channel.bindQueue('q', 'x', `key.${n}`);
      channel.bindQueue('q', 'auto', `key.${n}`);
    }
    scene.drain();
    channel.deleteQueue('q');
    expect(vhost.exchanges.has('auto')).toBe(false);
    publishText(channel, 'x', 'key.1', 'x');
    scene.drain();
    expect(vhost.queues.get('caught')?.length).toBe(1);
  });

  it('so does the end of an exchange that others have many bindings to', () => {
    const scene = arrange(new MemoryJournal());
    const { channel, broker } = scene;
    for (const name of ['x', 'y']) channel.declareExchange(name, { type: 'topic' });
    channel.declareQueue('behind');
    channel.bindQueue('behind', 'y', '#');
    for (let n = 0; n < bindings; n++) channel.bindExchange('y', 'x', `key.${n}`);
    scene.drain();
    channel.deleteExchange('y');
    publishText(channel, 'x', 'key.1', 'x');
    expect(scene.drain()).toBeGreaterThanOrEqual(bindings / (budget / 2));
    expect(broker.virtualHost('/').queues.get('behind')?.length).toBe(0);
  });
});

it('without a pace all is cleared away within the command', () => {
  const scene = arrange(new MemoryJournal(), false);
  fill(scene);
  scene.channel.purgeQueue('q');
  let isDone = false;
  scene.broker.virtualHost('/').scheduler.whenCleared(() => (isDone = true));
  expect(isDone).toBe(true);
  expect(scene.broker.virtualHost('/').queues.get('q')?.persistent).toEqual({ count: 0, bytes: 0 });
});
