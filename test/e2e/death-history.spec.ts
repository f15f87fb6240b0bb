import { Injectable, type Type } from '@nestjs/common';
import { Ctx } from '@nestjs/microservices';
import {
  Circuit,
  Consume,
  type Death,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  type DlxBrokerOptions,
  DlxContext,
  OnDeadLetter,
  Ordered,
  Reject,
  Retry,
  RetryLater,
  Unavailable,
  type XDeath,
} from 'dlx-broker';
import { concatMap, firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { contextApp } from './apps.js';
import { missing, until } from './places.js';

type Work = (context: DlxContext) => void;

const short = (deaths: readonly XDeath[]) =>
  deaths.map(({ reason, queue, count }) => `${reason} in ${queue} x${count}`);

/** A handler of the queue `work` that notes the deaths of each attempt, and hears of the deaths. */
async function start(decorators: readonly MethodDecorator[], work: Work, options: DlxBrokerOptions = {}) {
  const seen: string[][] = [];
  const heard: Death[] = [];
  @Injectable()
  class Worker {
    handle(context: DlxContext): void {
      seen.push(short(context.deaths));
      work(context);
    }

    @OnDeadLetter({ kinds: ['parked', 'rejected'] })
    hear(death: Death): void {
      heard.push(death);
    }
  }
  Ctx()(Worker.prototype, 'handle', 0);
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'handle')!;
  for (const decorate of [Consume('work'), ...decorators]) decorate(Worker.prototype, 'handle', descriptor as never);
  Reflect.defineMetadata('design:paramtypes', [DlxContext], Worker.prototype, 'handle');
  const queues = ['dead', 'late'].map((name) => ({
    name,
    durable: true,
    exclusive: false,
    autoDelete: false,
    arguments: new Map(
      name === 'late'
        ? [
            ['x-dead-letter-exchange', { type: 'S', value: '' } as const],
            ['x-dead-letter-routing-key', { type: 'S', value: 'dead' } as const],
          ]
        : [],
    ),
  }));
  const app = await contextApp({ providers: [Worker as Type], options: { ...options, topology: { queues } } });
  const { backend } = app.get(DlxBroker);
  const publish = (queue = 'work', properties: { expiration?: string } = {}) =>
    new Promise<void>((resolve, reject) =>
      backend.publish(
        { exchange: '', routingKey: queue, properties, body: Buffer.from('{"key":1}'), mandatory: true },
        (failure) => (failure === undefined ? resolve() : reject(failure)),
      ),
    );
  /** The next letter of a queue. It returns there. */
  const letterOf = (queue: string) => firstValueFrom(app.get(DeadLetters).from(queue, { prefetch: 1 }));
  /** Settles the next letter of a queue. */
  const settle = async (queue: string, how: (letter: Awaited<ReturnType<typeof letterOf>>) => Promise<unknown>) => {
    await firstValueFrom(app.get(DeadLetters).from(queue, { prefetch: 1 }).pipe(concatMap(how)));
  };
  return { app, seen, heard, publish, letterOf, settle };
}

const fail: Work = () => {
  throw new Error('down');
};

const rejected = (count: number, queue = 'work') => `rejected in ${queue} x${count}`;
const expired = (delay: number, count = 1) => `expired in wait.${delay} x${count}`;

interface Row {
  readonly name: string;
  readonly decorators: readonly MethodDecorator[];
  readonly options?: DlxBrokerOptions;
  readonly work?: Work;
  /** The history on attempts 1, 2 and 3. */
  readonly seen: readonly (readonly string[])[];
  readonly parked: readonly string[];
}

const fixed = { seen: [[], [expired(20), rejected(1)], [expired(20, 2), rejected(2)]] };
const rows: readonly Row[] = [
  {
    name: 'a fixed delay: by reject where a reject carries the errors, otherwise by republishing',
    decorators: [Retry({ attempts: 3, backoff: 20 })],
    ...fixed,
    parked: [rejected(3), expired(20, 2)],
  },
  {
    name: 'a fixed delay: by reject',
    decorators: [Retry({ attempts: 3, backoff: 20 })],
    options: { errorHistory: 0 },
    ...fixed,
    parked: [rejected(3), expired(20, 2)],
  },
  {
    name: 'a fixed delay: by republishing',
    decorators: [Retry({ attempts: 3, backoff: 20, deadline: '1m' })],
    ...fixed,
    parked: [rejected(3), expired(20, 2)],
  },
  {
    name: 'delays that differ',
    decorators: [Retry({ attempts: 3, backoff: [10, 20] })],
    seen: [[], [expired(10), rejected(1)], [expired(20), rejected(2), expired(10)]],
    parked: [rejected(3), expired(20), expired(10)],
  },
  {
    name: 'a wait that the handler asks for',
    decorators: [Retry({ attempts: 3, backoff: 20 })],
    work: () => {
      throw new RetryLater(10);
    },
    seen: [[], [expired(10), rejected(1)], [expired(10, 2), rejected(2)]],
    parked: [rejected(3), expired(10, 2)],
  },
  {
    name: 'no wait',
    decorators: [Retry({ attempts: 3, immediate: 2 })],
    seen: [[], [rejected(1)], [rejected(2)]],
    parked: [rejected(3)],
  },
  {
    name: 'a wait in hand, in which nothing expires',
    decorators: [Retry({ attempts: 3, backoff: 10 }), Ordered({ key: ({ key }: { key: string }) => key })],
    seen: [[], [rejected(1)], [rejected(2)]],
    parked: [rejected(3)],
  },
  {
    name: 'a service that is away, which is no failure',
    decorators: [Retry({ attempts: 2, backoff: 20, deadline: '1m' })],
    work: ({ deaths }) => {
      throw deaths.length === 0 ? new Unavailable('away', 10) : new Error('down');
    },
    seen: [[], [expired(10)], [expired(20), rejected(1), expired(10)]],
    parked: [rejected(2), expired(20), expired(10)],
  },
  {
    name: 'a circuit that opens, which is no failure',
    decorators: [Retry({ attempts: 2, backoff: 20, deadline: '1m' }), Circuit('bank')],
    options: { circuits: { bank: { on: RangeError, pause: 10 } } },
    work: ({ deaths }) => {
      throw deaths.length === 0 ? new Unavailable('away', 10) : new Error('down');
    },
    seen: [[], [expired(10)], [expired(20), rejected(1), expired(10)]],
    parked: [rejected(2), expired(20), expired(10)],
  },
];

const skipped = missing !== undefined;

it.skipIf(skipped).each(rows)('of attempts after $name', async ({ decorators, options, work = fail, seen, parked }) => {
  const { seen: all, heard, publish, letterOf } = await start(decorators, work, options);
  const before = Math.floor(Date.now() / 1000) * 1000;
  await publish();
  await until(() => expect(heard).toHaveLength(1));
  const letter = await letterOf('work.parked');
  expect(all).toEqual(seen);
  expect(short(letter.deaths)).toEqual(parked);
  expect(short(heard[0]!.deaths)).toEqual(parked);
  const rejection = letter.deaths.find(({ reason }) => reason === 'rejected');
  expect(rejection).toMatchObject({ exchange: '', routingKeys: ['work'], queue: 'work' });
  expect(rejection!.time.getTime()).toBeGreaterThanOrEqual(before);
  expect(rejection!.time.getTime()).toBeLessThanOrEqual(Date.now());
  // The republished message has no `x-death`: RabbitMQ 3.10 would continue it, RabbitMQ 4 would not (rules H9, W3).
  expect([letter.message.own.headers?.has('x-death'), letter.message.own.headers?.has('dlx-deaths')]).toEqual([
    false,
    true,
  ]);
});

it.skipIf(skipped)(
  'of a letter that is rejected in the end: in its queue, in a stream, and for @OnDeadLetter',
  async () => {
    const decorators = [DeadLetter({ exchange: '', routingKey: 'dead' }), Retry({ attempts: 3, backoff: 10 })];
    const { heard, publish, letterOf } = await start(decorators, ({ attempt }) => {
      throw attempt === 2 ? new Reject('never') : new Error('down');
    });
    await publish();
    await until(() => expect(heard).toHaveLength(1));
    const all = [rejected(2), expired(10)];
    expect(short(heard[0]!.deaths)).toEqual(all);
    expect(short((await letterOf('dead')).deaths)).toEqual(all);
  },
);

it.skipIf(skipped)(
  'of a dead letter that a stream retries and parks, which is no death, and of one that it rejects',
  async () => {
    const decorators = [DeadLetter({ exchange: '', routingKey: 'dead' })];
    const { seen, heard, publish, letterOf, settle } = await start(decorators, fail);
    await publish();
    await settle('dead', (letter) => letter.retryIn(10));
    await until(() => expect(seen).toEqual([[], [expired(10), rejected(1)]]));
    const all = [rejected(2), expired(10)];
    expect(short((await letterOf('dead')).deaths)).toEqual(all);
    await settle('dead', (letter) => letter.park());
    expect(short((await letterOf('work.parked')).deaths)).toEqual(all);
    await until(() => expect(heard.map(({ kind, deaths }) => [kind, short(deaths)]).at(-1)).toEqual(['parked', all]));
    await settle('work.parked', (letter) => letter.retryIn(20));
    await until(() => expect(seen.at(-1)).toEqual([expired(20), ...all]));
  },
);

it.skipIf(skipped)('of a redriven message, which begins a new life and says so', async () => {
  const { seen, publish, letterOf, settle } = await start([Retry({ attempts: 2, backoff: [10] })], fail);
  await publish();
  await settle('work.parked', (letter) => letter.redrive('work'));
  const life = [[], [expired(10), rejected(1)]];
  await until(() => expect(seen).toEqual([...life, ...life]));
  const letter = await letterOf('work.parked');
  expect([letter.redrives, short(letter.deaths)]).toEqual([1, [rejected(2), expired(10)]]);
});

it.skipIf(skipped)(
  'of a message that expired in its queue, and that RabbitMQ 3.10 would drop with its x-death (rule I2)',
  async () => {
    const { publish, letterOf, settle } = await start([], () => undefined);
    await publish('late', { expiration: '1' });
    await settle('dead', (letter) => letter.retryIn(10));
    expect(short((await letterOf('late')).deaths)).toEqual([expired(10), 'expired in late x1']);
  },
);
