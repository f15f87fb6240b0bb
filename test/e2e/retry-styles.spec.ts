import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  DlxContext,
  Retry,
  Ttl,
  type RetryPolicy,
  sharedBroker,
} from 'dlx-broker';
import { harness, type Harness } from 'dlx-broker/testing';
import { setImmediate as soon } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { classOf } from '../harnesses/class-of.js';
import { declaredArguments } from '../harnesses/declared-arguments.js';

const open: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

/** One deployment of an application with a handler of the queue `work` that fails as often as the test says. */
async function deploy({ broker }: Harness, policy: RetryPolicy, failures = Infinity) {
  const attempts: number[] = [];
  const since: (number | undefined)[] = [];
  @Injectable()
  class Worker {
    @Consume('work')
    @Retry(policy)
    handle(@Ctx() { attempt, failingSince }: DlxContext): void {
      attempts.push(attempt);
      since.push(failingSince?.getTime());
      if (attempts.length <= failures) throw new Error('down');
    }
  }
  const module = {
    module: class {},
    imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker) })],
    providers: [Worker],
  };
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  open.push(app);
  return { app, attempts, since, described: app.get(DlxBroker).describeTopology() };
}

const publish = ({ backend }: Harness, body = '{}'): void =>
  backend.publish({ exchange: '', routingKey: 'work', properties: { deliveryMode: 2 }, body: Buffer.from(body) });

/** Moves the time on in small steps; handlers have their turns in between. */
async function advance({ clock }: Harness, milliseconds: number, step = milliseconds): Promise<void> {
  for (let passed = 0; passed <= milliseconds; passed += step) {
    for (let turn = 0; turn < 5; turn++) await soon();
    if (passed < milliseconds) clock.advance(step);
  }
}

const argumentsOf = ({ broker }: Harness, queue: string): unknown => declaredArguments(broker, queue);

describe('a fixed delay is left to the broker: a reject into one wait queue', () => {
  it('which the queue names as its dead-letter exchange, and the description says', async () => {
    const here = harness();
    const { described } = await deploy(here, { attempts: 3, backoff: '5s' });
    expect(argumentsOf(here, 'work')).toEqual({
      'x-dead-letter-exchange': 'wait.5000',
      'x-dead-letter-routing-key': 'work',
    });
    expect(described).toContain('work: 3 attempts, rejects into wait.5000, then work.parked');
  });

  it('counts the attempts by the deaths, and parks after the last (rule E1)', async () => {
    const here = harness();
    const { attempts } = await deploy(here, { attempts: 3, backoff: '5s' });
    publish(here);
    await advance(here, 4_999);
    expect([attempts, here.queue('wait.5000').ready]).toEqual([[1], 1]);
    await advance(here, 1);
    expect(attempts).toEqual([1, 2]);
    await advance(here, 5_000);
    expect(attempts).toEqual([1, 2, 3]);
    const [parked] = here.queue('work.parked').messages();
    expect(parked?.headers['dlx-attempt']).toBe(3);
    expect(parked?.headers['dlx-error-message']).toBe('down');
  });

  it('tells since when a message fails by its first rejection', async () => {
    const here = harness();
    const { since } = await deploy(here, { attempts: 3, backoff: '5s' });
    publish(here);
    await advance(here, 1);
    const first = Math.floor(here.clock.now() / 1_000) * 1_000; // deaths have whole seconds
    await advance(here, 10_000, 5_000);
    expect(since.map((time) => time && Math.floor(time / 1_000) * 1_000)).toEqual([undefined, first, first]);
  });

  it('parks undecodable messages, which would come back for ever', async () => {
    const here = harness();
    const { attempts } = await deploy(here, { attempts: 3, backoff: '5s' });
    publish(here, '{');
    await advance(here, 1);
    expect([attempts, here.queue('work.parked').ready, here.queue('wait.5000').ready]).toEqual([[], 1, 0]);
  });

  it('keeps its wait queue though it is unused for days', async () => {
    const here = harness();
    const { attempts } = await deploy(here, { attempts: 3, backoff: '5s' }, 1);
    await advance(here, 72 * 3_600_000, 600_000);
    publish(here);
    await advance(here, 5_000);
    expect(attempts).toEqual([1, 2]);
  });

  it.each<[string, RetryPolicy]>([
    ['delays that differ', { attempts: 3, backoff: ['1s', '2s'] }],
    ['jitter', { attempts: 3, backoff: { type: 'fixed', delay: '1s', jitter: 'equal' } }],
    ['a deadline', { attempts: 3, backoff: '1s', deadline: '1m' }],
    ['retries without a wait', { attempts: 3, backoff: '1s', immediate: 1 }],
  ])('but not with %s', async (_, policy) => {
    const here = harness();
    const { described } = await deploy(here, policy);
    expect(argumentsOf(here, 'work')).toEqual({});
    expect(described).toMatch(/work: 3 attempts, republishes to wait/);
  });

  it('nor where the queue has a dead-letter exchange of its own', async () => {
    const { broker } = harness();
    const Worker = classOf('Worker', {
      handle: [
        Consume('work'),
        DeadLetter({ exchange: '', routingKey: 'dead' }),
        Retry({ attempts: 3, backoff: '5s' }),
      ],
    });
    const module = {
      module: class {},
      imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker) })],
      providers: [Worker],
    };
    const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    open.push(app);
    expect(app.get(DlxBroker).describeTopology()).toContain('work: 3 attempts, republishes to wait.5000');
  });
});

describe('a handler whose messages would be cut on their way round (rule I2)', () => {
  it('is refused at start, with the reason and a way out', async () => {
    const { broker } = harness();
    const Worker = classOf('Worker', {
      handle: [
        Consume('work'),
        Ttl(60_000),
        DeadLetter({ exchange: 'wait.5000', routingKey: 'work' }),
        Retry({ attempts: 3, backoff: '5s' }),
      ],
    });
    const module = {
      module: class {},
      imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker) })],
      providers: [Worker],
    };
    const start = NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    await expect(start).rejects.toThrow(
      /^Worker\.handle: messages expire from 'work' to 'wait\.5000' to 'work' in a cycle/,
    );
    expect([...broker.virtualHost('/').queues.keys()]).toEqual([]);
  });
});

describe('when a policy changes between two deployments', () => {
  const policies: readonly RetryPolicy[] = [
    { attempts: 4, backoff: '5s' },
    { attempts: 4, backoff: '10s' },
    { attempts: 4, backoff: { type: 'exponential', delay: '2s' } },
    { attempts: 4, backoff: { type: 'fixed', delay: '3s', jitter: 'full' } },
  ];
  const changes = policies.flatMap((before, from) =>
    policies.filter((after) => after !== before).map((after) => [from, before, after] as const),
  );

  it.each(changes)('%i: what waits comes back, and old wait queues disappear', async (_, before, after) => {
    const here = harness();
    const old = await deploy(here, before);
    publish(here);
    await advance(here, 1);
    expect(old.attempts).toEqual([1]);
    await old.app.close();
    const fresh = await deploy(here, after);
    await advance(here, 60_000, 500);
    expect(fresh.attempts).toEqual([2, 3, 4]);
    expect(here.queue('work.parked').ready).toBe(1);
    await fresh.app.close();
    await advance(here, 2 * 3_600_000);
    const left = [...here.broker.virtualHost('/').queues.keys()].sort();
    expect(left).toEqual(['work', 'work.parked']);
    expect([...here.broker.virtualHost('/').exchanges.keys()].filter((name) => name.startsWith('wait'))).toEqual([]);
  });

  it('a queue that had no policy is taken as it is', async () => {
    const here = harness();
    await here.backend.declare({
      exchanges: [],
      bindings: [],
      queues: [{ name: 'work', durable: true, exclusive: false, autoDelete: false, arguments: new Map() }],
    });
    const { attempts } = await deploy(here, { attempts: 2, backoff: '5s' });
    publish(here);
    await advance(here, 5_000);
    expect(attempts).toEqual([1, 2]);
    expect(here.queue('work.parked').ready).toBe(1);
  });
});
