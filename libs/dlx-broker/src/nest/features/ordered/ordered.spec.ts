import { Controller, Injectable } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { lastValueFrom, toArray } from 'rxjs';
import { AmqpError, silentOutbox } from '../../../engine/broker/index.js';
import { Redrives } from '../../streams/index.js';
import { afterEach, describe, expect, it } from 'vitest';
import { DlxTesting } from '../../../testing.js';
import {
  Circuit,
  Consume,
  DlxBroker,
  DlxClient,
  DlxContext,
  event,
  Idempotent,
  On,
  Ordered,
  Outbox,
  type OutcomeEvent,
  Park,
  Prefetch,
  Queue,
  Retry,
  RetryLater,
} from '../../index.js';
import type { OrderedQueue } from './ordered-queue.js';

interface Step {
  readonly key: unknown;
  readonly n: number;
  /** The number of failures before a success. */
  readonly fails?: number;
  readonly does?: 'later' | 'park' | 'requeue' | 'ack and fail' | 'reject' | 'hang';
}

/** Notes what its handler does. */
@Injectable()
class Steps {
  readonly seen: string[] = [];
  readonly contexts: DlxContext[] = [];
  readonly keyed: number[] = [];
  /** The number of failures of the key function that are left. */
  keyFailures = 0;
  #running = new Set<unknown>();
  most = 0;
  release: () => void = () => undefined;
  readonly released = new Promise<void>((resolve) => (this.release = resolve));

  keyOf(step: Step): never {
    this.keyed.push(step.n);
    if (this.keyFailures-- > 0) throw new Error('no key today');
    return step.key as never;
  }

  async run({ key, n, fails = 0, does }: Step, context: DlxContext): Promise<void> {
    this.contexts.push(context);
    const name = `${String(key)}${n}`;
    expect(this.#running.has(key)).toBe(false);
    if (key !== null) this.#running.add(key);
    this.most = Math.max(this.most, this.#running.size);
    try {
      await new Promise((resolve) => setImmediate(resolve));
      if (does === 'hang' && context.attempt === 1) await this.released;
      if (does === 'ack and fail') context.ack();
      if (context.attempt > fails && does !== 'ack and fail') return void this.seen.push(name);
      if (does === 'later') throw new RetryLater('10m');
      if (does === 'park') throw new Park('not this one');
      if (does === 'requeue') return context.requeue();
      if (does === 'reject') return context.reject();
      throw new Error(`${name} fails at ${context.attempt}, after ${context.lastError?.message}`);
    } finally {
      this.#running.delete(key);
    }
  }
}

let steps: Steps;

@Injectable()
class Handlers {
  constructor(own: Steps) {
    steps = own;
  }

  @Consume('steps')
  @Prefetch(4)
  @Retry({ attempts: 4, backoff: ['20s', '20s', '20s'] })
  @Ordered({ key: (step: Step) => steps.keyOf(step), window: 12 })
  handle(@Payload() step: Step, @Ctx() context: DlxContext): Promise<void> {
    return steps.run(step, context);
  }
}

/** Changes its payload before it fails. */
@Injectable()
class Changing {
  readonly totals: number[] = [];

  @Consume('totals')
  @Retry({ attempts: 3, backoff: '1s' })
  @Ordered({ key: () => 'all' })
  handle(@Payload() order: { total: number }): void {
    order.total *= 2;
    this.totals.push(order.total);
    if (this.totals.length < 3) throw new Error('not yet');
  }
}

interface Placed {
  readonly order: { readonly id: string };
}

const placed = event<Placed>('order.placed', {
  schema: {
    '~standard': {
      version: 1,
      vendor: 'a test',
      validate: (value) =>
        (value as Partial<Placed> | null)?.order === undefined
          ? { issues: [{ message: 'names no order' }] }
          : { value: value as Placed },
    },
  },
});

@Injectable()
class ByContract {
  readonly seen: Placed[] = [];

  @Consume('placed')
  @On(placed)
  @Retry({ attempts: 3, backoff: '1m' })
  @Ordered({ key: ({ order }: Placed) => order.id })
  handle(@Payload() event: Placed): void {
    this.seen.push(event);
  }
}

@Injectable()
class Slow {
  constructor(own: Steps) {
    steps = own;
  }

  @Consume('steps')
  @Retry({ attempts: 5, backoff: '5m' })
  @Ordered({ key: (step: Step) => steps.keyOf(step) })
  handle(@Payload() step: Step, @Ctx() context: DlxContext): Promise<void> {
    return steps.run(step, context);
  }
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  steps?.release();
  for (const end of ends.splice(0)) await end();
});

async function arrange(handlers: new (own: Steps) => object = Handlers, timeout = 2_000) {
  const dlx = await DlxTesting.create({ providers: [handlers, Steps] }, { logger: false, timeout });
  ends.push(() => dlx.close());
  const own = dlx.app.get(Steps);
  const events: OutcomeEvent[] = [];
  dlx.app.get(DlxBroker).events.subscribe((event) => events.push(event));
  const publish = async (...all: Step[]): Promise<void> => {
    for (const step of all) await dlx.publish('steps', step, { messageId: `m${step.n}` });
  };
  return { dlx, steps: own, publish, events, broker: dlx.app.get(DlxBroker) };
}

describe('handlers with @Ordered', () => {
  it('hold up the key of a message that is tried again for a minute, and no other key', async () => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: 'A', n: 1, fails: 3 }, { key: 'A', n: 2 });
    for (const key of ['B', 'C', 'D', 'E']) await publish({ key, n: 1 });
    await dlx.advance('1s');
    expect(steps.seen).toEqual(['B1', 'C1', 'D1', 'E1']);
    expect([dlx.queue('steps').ready, dlx.queue('steps').unacknowledged]).toEqual([0, 2]);
    await dlx.advance('59s');
    expect(steps.seen.slice(4)).toEqual(['A1', 'A2']);
    expect(dlx.queue('steps').unacknowledged).toBe(0);
    expect([...dlx.broker.virtualHost('/').queues.keys()].sort()).toEqual(['steps', 'steps.parked']); // no wait queue
  });

  it('give each attempt the payload as it was published, although an earlier attempt changed its own', async () => {
    const dlx = await DlxTesting.create({ providers: [Changing] }, { logger: false });
    ends.push(() => dlx.close());
    await dlx.publish('totals', { total: 1 });
    await dlx.advance('3s');
    expect(dlx.app.get(Changing).totals).toEqual([2, 2, 2]);
  });

  it('park a message without a key at once if it breaks its contract, for it would wait in hand in vain', async () => {
    const dlx = await DlxTesting.create({ providers: [ByContract] }, { logger: false });
    ends.push(() => dlx.close());
    await dlx.publish('placed', {});
    await dlx.publish('placed', { order: { id: 'A' } });
    await dlx.settled();
    const [letter] = dlx.deadLetters('placed.parked');
    expect([letter?.error?.name, letter?.failures]).toEqual(['ContractError', 1]);
    expect([dlx.queue('placed').unacknowledged, dlx.app.get(ByContract).seen]).toEqual([0, [{ order: { id: 'A' } }]]);
  });

  it('park after the last attempt, with what was counted in the process, and go on with the key', async () => {
    const { dlx, steps, publish } = await arrange();
    const start = dlx.clock.now();
    await publish({ key: 'A', n: 1, fails: 9 }, { key: 'A', n: 2 });
    await dlx.advance('1m');
    expect(steps.seen).toEqual(['A2']);
    const [letter] = dlx.deadLetters<Step>('steps.parked');
    expect(letter).toMatchObject({ payload: { n: 1 }, failures: 4 });
    expect(letter!.headers).toMatchObject({
      'dlx-attempt': 4,
      'dlx-failing-since': start,
      'dlx-first-routing-key': 'steps',
      'dlx-error-message':
        'A1 fails at 4, after A1 fails at 3, after A1 fails at 2, after A1 fails at 1, after undefined',
    });
    expect(steps.contexts.map(({ errors }) => errors.map(({ attempt }) => attempt))).toEqual([
      [],
      [1],
      [2, 1],
      [3, 2, 1],
      [],
    ]);
    const times = steps.contexts.map(({ attempt, failingSince, routingKey, exchange, isLastAttempt }) => [
      attempt,
      failingSince?.getTime(),
      exchange,
      routingKey,
      isLastAttempt,
    ]);
    expect(times).toEqual([
      [1, undefined, '', 'steps', false],
      ...[2, 3, 4].map((attempt) => [attempt, start, '', 'steps', attempt === 4]),
      [1, undefined, '', 'steps', false],
    ]);
  });

  it('work side by side up to the prefetch, and a redriven message comes last', async () => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: 'A', n: 1, fails: 4 });
    await dlx.advance('1m');
    for (const key of ['A', 'B', 'C', 'D', 'E', 'F']) await publish({ key, n: 2, does: 'hang' });
    await publish({ key: 'A', n: 3 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps.most).toBe(4);
    await dlx.app.get(Redrives).start({ from: 'steps.parked' }).ended;
    steps.release();
    await dlx.settled();
    expect(steps.seen.filter((name) => name.startsWith('A'))).toEqual(['A2', 'A3']);
    const [first, ...later] = steps.contexts.filter(({ message }) => message.own.messageId === 'm1').slice(4);
    expect([first?.attempt, first?.headers['dlx-redrives'], later]).toEqual([1, 1, []]);
  });

  it.each<[Step['does'], string[], string]>([
    ['later', ['A1', 'A2'], 'waits in hand, no longer than holdAtMost'],
    ['requeue', ['A1', 'A2'], 'is tried again at once'],
    ['park', ['A2'], 'is parked'],
    ['reject', ['A2'], 'is parked'],
    ['ack and fail', ['A2'], 'is settled by hand'],
  ])('a message whose handler says %s leaves its key in order: %o', async (does, seen) => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: 'A', n: 1, fails: 1, does: does! }, { key: 'A', n: 2 });
    await dlx.advance('4m');
    expect(steps.seen).toEqual(does === 'later' ? [] : seen);
    await dlx.advance('2m');
    expect(steps.seen).toEqual(seen);
    expect(dlx.queue('steps').unacknowledged).toBe(0);
  });

  it('give messages without a key to as many handlers as may work', async () => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: null, n: 1, fails: 2 }, { key: null, n: 2 }, { key: 7, n: 1 }, { key: '7', n: 2 });
    await dlx.advance('1s');
    expect(steps.seen).toEqual(['null2', '71', '72']);
    await dlx.advance('1m');
    expect(steps.seen).toEqual(['null2', '71', '72', 'null1']);
  });

  it.each<[string, unknown, string]>([
    ['an object', { a: 1 }, 'this one is an object'],
    ['nothing', undefined, 'this one is undefined'],
    ['not a number', NaN, 'this one is an object'], // JSON has no NaN: the key function makes one below
    ['a flag', true, 'this one is a boolean'],
  ])('a key function that answers %s fails the attempt, and holds up no other message', async (what, key, text) => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: what === 'not a number' ? {} : key, n: 1 }, { key: 'B', n: 2 });
    await dlx.advance('1m');
    expect(steps.seen).toEqual(['B2']);
    const [letter] = dlx.deadLetters('steps.parked');
    expect(String(letter!.headers['dlx-error-message'])).toContain(text);
    expect(letter!.failures).toBe(4);
  });

  it('ask for the key once, and again only after a failure; it may be found later', async () => {
    const { dlx, steps, publish } = await arrange();
    steps.keyFailures = 2;
    await publish({ key: 'A', n: 1 }, { key: 'B', n: 2, fails: 2 });
    expect(steps.keyed).toEqual([1, 2]);
    await dlx.advance('1m');
    expect(steps.seen).toEqual(['A1', 'B2']);
    expect(steps.keyed).toEqual([1, 2, 1, 2]);
    expect(steps.contexts.map(({ attempt }) => attempt)).toEqual([2, 2, 3]);
  });

  it('tell that they are stalled when the window is full of one key, and that they go on', async () => {
    const { dlx, steps, publish, events, broker } = await arrange();
    await publish({ key: 'hot', n: 1, fails: 1 });
    for (let n = 2; n <= 14; n++) await publish({ key: 'hot', n });
    await publish({ key: 'cold', n: 15 });
    await dlx.advance('9s');
    const told = () => events.filter(({ kind }) => kind === 'stalled' || kind === 'recovered');
    expect(told()).toEqual([]);
    await dlx.advance('2s');
    expect(told()).toMatchObject([{ kind: 'stalled', queue: 'steps', key: 'hot', messageId: 'm1' }]);
    const numbers = broker.measure().handlers.added.flatMap((metric) => [...metric.read()].map(({ value }) => value));
    expect(numbers).toEqual([1, 1, 12, 12]); // lanes, held, in hand, window
    expect(steps.seen).toEqual([]);
    await dlx.advance('20s');
    expect(steps.seen).toHaveLength(15);
    expect(told().map(({ kind, key }) => [kind, key])).toEqual([
      ['stalled', 'hot'],
      ['recovered', 'hot'],
    ]);
  });

  it('start nothing more at a shutdown, finish what is at work, and only then cancel', async () => {
    const { dlx, steps, publish } = await arrange();
    await publish(
      { key: 'A', n: 1, does: 'hang' },
      { key: 'A', n: 2 },
      { key: 'B', n: 3, fails: 1 },
      { key: 'C', n: 4 },
    );
    await expect.poll(() => steps.seen).toEqual(['C4']);
    const closed = dlx.app.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(dlx.queue('steps').consumers).toBe(1);
    await publish({ key: 'D', n: 5 });
    steps.release();
    await closed;
    expect(steps.seen).toEqual(['C4', 'A1']);
    const left = dlx.queue('steps').messages();
    expect(left.map(({ payload }) => (payload as Step).n)).toEqual([2, 3, 5]);
    expect(dlx.queue('steps').consumers).toBe(0);
  });

  it('abort the signal of handlers at work when the messages have returned, and begin again in order', async () => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: 'A', n: 1, does: 'hang' }, { key: 'A', n: 2 }, { key: 'B', n: 3, fails: 1 });
    await expect.poll(() => steps.contexts.length).toBe(2);
    const error = new AmqpError('CONNECTION_FORCED', 'by an operator');
    for (const connection of dlx.broker.virtualHost('/').connections) connection.force(error);
    expect(steps.contexts.find(({ message }) => message.own.messageId === 'm1')?.signal.aborted).toBe(true);
    await expect.poll(() => dlx.queue('steps').consumers, { timeout: 5_000 }).toBe(1);
    await dlx.advance('1s', { except: ['steps'] });
    expect(steps.contexts.filter(({ message }) => message.own.messageId === 'm1')).toHaveLength(1); // the old run has not ended
    steps.release();
    await dlx.advance('1m');
    expect(steps.seen.filter((name) => name.startsWith('A'))).toEqual(['A1', 'A1', 'A2']);
    expect(dlx.queue('steps').unacknowledged).toBe(0);
  });
});

it('a message that waits behind others for longer than a server allows comes again, in order', async () => {
  const { dlx, steps, publish } = await arrange(Slow);
  await publish({ key: 'A', n: 1, fails: 9 }, { key: 'A', n: 2, fails: 9 }, { key: 'A', n: 3 });
  const parked = () => dlx.deadLetters('steps.parked').map(({ payload }) => (payload as Step).n);
  await dlx.advance('25m');
  expect(parked()).toEqual([1]);
  await dlx.advance('6m'); // the broker takes back what it delivered 30 minutes ago (rule Q8)
  await expect.poll(() => dlx.queue('steps').consumers, { timeout: 5_000 }).toBe(1);
  expect(dlx.queue('steps').messages()).toEqual([]);
  await dlx.advance('25m');
  expect(parked()).toEqual([1, 2]);
  expect(steps.seen).toEqual(['A3']);
});

@Injectable()
class Shared {
  constructor(own: Steps) {
    steps = own;
  }

  @Consume({ queue: 'steps', exchange: 'shop', routingKey: 'order.created' })
  @Retry({ attempts: 3, backoff: '1s' })
  @Ordered({ key: (step: Step) => steps.keyOf(step) })
  created(@Payload() step: Step, @Ctx() context: DlxContext): Promise<void> {
    return steps.run(step, context);
  }

  @Consume({ exchange: 'shop', routingKey: 'order.paid' })
  @Queue('steps')
  @Retry({ attempts: 3, backoff: '1s' })
  @Idempotent()
  @Ordered({ key: (step: Step) => steps.keyOf(step) })
  paid(@Payload() step: Step, @Ctx() context: DlxContext): Promise<void> {
    return steps.run(step, context);
  }
}

it('a queue that was deleted leaves nothing in hand, and its handlers go on', async () => {
  const { dlx, steps, publish, broker } = await arrange();
  await publish({ key: 'A', n: 1, does: 'hang' }, { key: 'A', n: 2 }, { key: 'B', n: 3, fails: 1 });
  await expect.poll(() => steps.contexts.length).toBe(2);
  const [ordered] = broker.orders as readonly OrderedQueue[];
  await expect.poll(() => ordered!.atWork).toBe(1);
  dlx.broker.connect().openChannel(silentOutbox).deleteQueue('steps');
  expect([ordered!.inHand, ordered!.held, ordered!.atWork]).toEqual([1, 0, 1]);
  steps?.release();
  await expect.poll(() => ordered!.inHand).toBe(0);
  await expect.poll(() => dlx.queue('steps').exists && dlx.queue('steps').consumers, { timeout: 5_000 }).toBe(1);
  await publish({ key: 'A', n: 4 });
  await dlx.advance('1m');
  expect(steps.seen).toEqual(['A1', 'A4']);
});

@Controller()
class Packets {
  constructor(own: Steps) {
    steps = own;
  }

  @MessagePattern('double')
  @Queue({ name: 'double', envelope: 'nest' })
  @Retry({ attempts: 3, backoff: '1s' })
  @Ordered({ key: (step: Step) => steps.keyOf(step) })
  async double(@Payload() step: Step, @Ctx() context: DlxContext): Promise<number> {
    await steps.run(step, context);
    return step.n * 2;
  }
}

it('a request in a packet is answered once, after the attempts that failed', async () => {
  const dlx = await DlxTesting.create({ controllers: [Packets], providers: [Steps] }, { logger: false });
  ends.push(() => dlx.close());
  const client = dlx.app.get(DlxClient);
  const ask = (data: Step) => lastValueFrom(client.send('double', data).pipe(toArray()));
  const answers = Promise.all([ask({ key: 'A', n: 1, fails: 2 }), ask({ key: 'A', n: 2 })]);
  await dlx.settled();
  await dlx.advance('5s');
  expect(await answers).toEqual([[2], [4]]);
  expect(steps.seen).toEqual(['A1', 'A2']);
});

it('handlers that share an ordered queue share its lanes, and duplicates are skipped', async () => {
  const { dlx, steps, events } = await arrange(Shared);
  const to = (routingKey: string) => ({ exchange: 'shop', routingKey });
  await dlx.publish(to('order.created'), { key: 'A', n: 1, fails: 1 });
  await dlx.publish(to('order.paid'), { key: 'A', n: 2 }, { messageId: 'x' });
  await dlx.publish(to('order.paid'), { key: 'A', n: 2 }, { messageId: 'x' });
  await dlx.publish(to('order.paid'), { key: 'B', n: 3 }, { messageId: 'y' });
  await dlx.advance('10s');
  expect(steps.seen).toEqual(['B3', 'A1', 'A2']);
  expect(events.filter(({ kind }) => kind === 'acked')).toHaveLength(4);
  expect(dlx.app.get(DlxBroker).counts).toMatchObject({ acked: 3, duplicates: 1, retried: 1 });
});

@Injectable()
class Emitter {
  readonly got: unknown[] = [];

  constructor(private readonly client: DlxClient) {}

  @Consume('source')
  @Outbox()
  @Retry({ attempts: 3, backoff: '1m' })
  @Ordered({ key: (step: Step) => String(step.key) })
  async emits(@Payload() { n, fails = 0 }: Step, @Ctx() { attempt }: DlxContext): Promise<void> {
    for (const part of [1, 2])
      await lastValueFrom(this.client.emit('part', `${n}.${part}`), { defaultValue: undefined });
    if (attempt <= fails) throw new Error('after its emits');
  }

  @Consume({ queue: 'parts', routingKey: 'part' })
  part(@Payload() part: string, @Ctx() { properties }: DlxContext): void {
    this.got.push([part, properties.messageId]);
  }
}

it('what an ordered handler emits into its outbox leaves with the attempt that succeeds', async () => {
  const dlx = await DlxTesting.create({ providers: [Emitter] }, { logger: false });
  const emitter = dlx.app.get(Emitter);
  await dlx.publish('source', { key: 'A', n: 1, fails: 1 }, { messageId: 'x' });
  await dlx.publish('source', { key: 'A', n: 2 }, { messageId: 'y' });
  await dlx.settled();
  expect(emitter.got).toEqual([]);
  await dlx.advance('2m');
  expect(emitter.got).toEqual([
    ['1.1', expect.stringMatching(/^x\..*1$/)],
    ['1.2', expect.stringMatching(/^x\..*2$/)],
    ['2.1', expect.stringMatching(/^y\..*1$/)],
    ['2.2', expect.stringMatching(/^y\..*2$/)],
  ]);
  expect(dlx.queue('source').unacknowledged).toBe(0);
  await dlx.close();
});

class BankDown extends Error {
  override readonly name = 'BankDown';
}

@Injectable()
class Banked {
  isUp = true;
  calls = 0;
  readonly seen: string[] = [];

  @Consume('bank')
  @Prefetch(3)
  @Retry({ attempts: 2, backoff: '1s', deadline: '5m' })
  @Circuit({ on: BankDown, atLeast: 2, pause: '1m' })
  @Ordered({ key: (step: Step) => steps.keyOf(step), window: 40 })
  async pay(@Payload() step: Step, @Ctx() { attempt }: DlxContext): Promise<void> {
    this.calls++;
    await new Promise((resolve) => setImmediate(resolve));
    if (!this.isUp) throw new BankDown('no route');
    if (step.fails === attempt) throw new Error('once');
    this.seen.push(`${String(step.key)}${step.n}`);
  }
}

describe('an ordered handler with a circuit', () => {
  const arrangeBank = async () => {
    const dlx = await DlxTesting.create({ providers: [Banked, Steps] }, { logger: false });
    ends.push(() => dlx.close());
    steps = dlx.app.get(Steps);
    const banked = dlx.app.get(Banked);
    const publish = async (count: number): Promise<void> => {
      for (let n = 1; n <= count; n++) {
        for (const key of ['A', 'B', 'C', 'D']) await dlx.publish('bank', { key, n });
      }
    };
    const inOrder = (count: number): void => {
      for (const key of ['A', 'B', 'C', 'D']) {
        const ofKey = banked.seen.filter((name) => name.startsWith(key));
        expect(ofKey).toEqual(Array.from({ length: count }, (_, at) => `${key}${at + 1}`));
      }
    };
    return { dlx, banked, publish, inOrder, broker: dlx.app.get(DlxBroker) };
  };

  it('stays the active consumer through an outage, parks nothing and keeps the order', async () => {
    const { dlx, banked, publish, inOrder, broker } = await arrangeBank();
    banked.isUp = false;
    await publish(12);
    await dlx.advance('20m');
    expect(dlx.queue('bank').consumers).toBe(1);
    expect(banked.calls).toBeLessThan(40); // the first ones, and probes
    banked.isUp = true;
    await dlx.advance('1h');
    inOrder(12);
    expect(broker.counts).toMatchObject({ parked: 0, acked: 48 });
    expect(dlx.queue('bank').unacknowledged).toBe(0);
  });

  it('starts nothing while it is paused, and goes on in order', async () => {
    const { dlx, banked, publish, inOrder, broker } = await arrangeBank();
    await broker.handler('Banked.pay').pause('for a while');
    await publish(3);
    await dlx.advance('10m');
    expect([banked.calls, dlx.queue('bank').consumers]).toEqual([0, 1]);
    broker.handler('Banked.pay').resume();
    await dlx.settled();
    inOrder(3);
  });
});
