import { describe, expect, it } from 'vitest';
import { int32, longstr } from '../../message/index.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { Broker } from '../broker.js';

const many = 20_000;
const large = 'x'.repeat(many);
const toDead = { 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('dead') };

/** A queue full of messages of one byte, in a broker whose turns the test counts; undefined: all in one turn. */
function full(type: string, budget: number | undefined, args: Readonly<Record<string, ReturnType<typeof longstr>>>) {
  const clock = new ManualClock();
  const resumes: (() => void)[] = [];
  const pace = { budget: budget ?? Infinity, later: (resume: () => void) => void resumes.push(resume) };
  const patterns = { compile: () => ({ matches: () => true }) };
  // 3.10, whose quorum queues count bodies only (rule D7).
  const broker = new Broker({ rabbitmq: '3.10', clock, names: new CountedNames(), patterns, pace });
  const mine = listen(broker);
  const { channel } = mine;
  const durable = true;
  const limits = { 'x-queue-type': longstr(type), 'x-max-length-bytes': int32(many) };
  channel.declareQueue('dead', { durable });
  channel.declareQueue('q', { durable, arguments: new Map(Object.entries({ ...limits, ...args })) });
  let turns = 0;
  /** @returns turns it took */
  const drain = (): number => {
    const before = turns;
    for (let resume = resumes.shift(); resume !== undefined; resume = resumes.shift()) {
      turns++;
      resume();
    }
    return turns - before;
  };
  for (let n = 0; n < many; n++) publishText(channel, '', 'q', String(n % 10));
  drain();
  const queue = (name: string) => broker.virtualHost('/').queues.get(name);
  return { ...mine, broker, drain, queue };
}

const publishLarge = ({ channel }: ReturnType<typeof full>): void => publishText(channel, '', 'q', large);

describe.each(['classic', 'quorum'])('a large message in the place of very many small ones, in a %s queue', (type) => {
  it('lets them go in turns (rule C3)', () => {
    const scene = full(type, 100, {});
    publishLarge(scene);
    expect(scene.queue('q')?.length).toBeGreaterThan(many / 2);
    expect(scene.drain()).toBeGreaterThan(3);
    expect([scene.queue('q')?.length, scene.queue('q')?.bytes]).toEqual([1, many]);
  });

  it('dead-letters each of them, in their order', () => {
    const scene = full(type, 100, toDead);
    publishLarge(scene);
    expect(scene.drain()).toBeGreaterThan(many / 100);
    expect([scene.queue('q')?.length, scene.queue('dead')?.length]).toEqual([1, many]);
    const bodies: string[] = [];
    scene.queue('dead')?.peek(({ message }) => void bodies.push(Buffer.from(message.body).toString()));
    expect(bodies).toEqual(Array.from({ length: many }, (_, n) => String(n % 10)));
  });

  it('is confirmed when the queue is within its limits', () => {
    const scene = full(type, 100, {});
    scene.channel.confirmSelect();
    publishLarge(scene);
    for (let n = 0; n < 10; n++) publishText(scene.channel, '', 'dead', 'x');
    expect(scene.confirms).toEqual([]);
    scene.drain();
    expect(scene.confirms).not.toEqual([]);
    expect(scene.queue('q')?.length).toBe(1);
  });

  it('makes the answers to its publisher wait until then, also without confirms', () => {
    const scene = full(type, 100, {});
    publishLarge(scene);
    let length: number | undefined;
    scene.channel.connection.pendingOutputs.after(() => (length = scene.queue('q')?.length));
    expect(length).toBeUndefined();
    scene.drain();
    expect(length).toBe(1);
  });

  it('is the next one for a consumer, a get, and a get in turns', () => {
    for (const take of ['consume', 'get', 'fetch'] as const) {
      const scene = full(type, 100, {});
      publishLarge(scene);
      const other = listen(scene.broker);
      const got: (number | undefined)[] = [];
      if (take === 'consume') other.channel.consume('q');
      else if (take === 'get') got.push(other.channel.get('q')?.body.length);
      else other.channel.fetch('q', {}, (one) => void got.push(one?.body.length, one?.messageCount));
      scene.drain();
      const bodies = other.deliveries.map(({ message }) => message.body.length);
      expect([take, ...got.slice(0, 1), ...bodies]).toEqual([take, many]);
      if (take === 'fetch') expect(got[1]).toBe(0);
    }
  });

  it('is all that a purge counts, and what a deletion drops is dead-lettered before', () => {
    const purged = full(type, 100, toDead);
    publishLarge(purged);
    expect(purged.channel.purgeQueue('q')).toBe(1);
    purged.drain();
    expect(purged.queue('dead')?.length).toBe(many);

    const deleted = full(type, 100, toDead);
    publishLarge(deleted);
    expect(deleted.channel.deleteQueue('q')).toBe(1);
    deleted.drain();
    expect(deleted.queue('dead')?.length).toBe(many);
  });

  it('leaves no trace of its turns: later messages stand behind it, and drop it', () => {
    for (const budget of [undefined, 100]) {
      const scene = full(type, budget, toDead);
      publishLarge(scene);
      publishText(scene.channel, '', 'q', 'next');
      scene.drain();
      const bodies: string[] = [];
      scene.queue('q')?.peek(({ message }) => void bodies.push(Buffer.from(message.body).toString()));
      expect([bodies, scene.queue('dead')?.length]).toEqual([['next'], many + 1]);
    }
  });
});
