import { Controller, Injectable } from '@nestjs/common';
import { Ctx, MessagePattern } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  queue,
  Redrives,
  Retry,
  type DlxBrokerOptions,
} from 'dlx-broker';
import { stepUp } from '../../libs/dlx-broker/src/nest/retry/steps.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { firstValueFrom, NEVER, Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { managementUrl } from '../rabbitmq.js';
import { contextApp, microservice, Morgue } from './apps.js';
import { anonymous, differences, type DifferenceName } from './differences.js';
import { freshBroker, isEmbedded, isRabbitMq, place, until } from './places.js';

const direct = { exchange: '', properties: {}, body: Buffer.from('1') };
const queues = (...names: string[]): DlxBrokerOptions => ({ topology: { queues: names } });
const failureOf = (promised: PromiseLike<unknown>): Promise<string | undefined> =>
  Promise.resolve(promised).then(
    () => undefined,
    (error: Error) => error.message,
  );
const emitted = (client: DlxClient, ...args: Parameters<DlxClient['emit']>): Promise<unknown> =>
  firstValueFrom(client.emit(...args), { defaultValue: undefined });

/** A handler of `work` that fails. */
const failing = (...above: MethodDecorator[]) => {
  const contexts: DlxContext[] = [];
  @Injectable()
  class Work {
    @Consume('work')
    work(@Ctx() context: DlxContext): never {
      contexts.push(context);
      throw new TypeError('down');
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Work.prototype, 'work')!;
  for (const decorate of above) decorate(Work.prototype, 'work', descriptor);
  return { Work, contexts };
};

const ticking = (options?: DlxBrokerOptions) => {
  const runs = { begun: 0, torn: 0 };
  @Controller()
  class Endless {
    @MessagePattern('silent')
    silent(): Observable<never> {
      return new Observable((subscriber) => {
        runs.begun++;
        subscriber.add(() => void runs.torn++);
        return NEVER.subscribe(subscriber);
      });
    }
  }
  return { runs, start: () => microservice({ controllers: [Endless], ...(options && { options }) }) };
};

/**
 * Checks that a broker does what its column says.
 * @param options of a fresh broker
 * @returns the text of the error, if it gives one
 */
type Check = (options: DlxBrokerOptions) => Promise<string | undefined>;

const checks: Readonly<Record<DifferenceName, Check>> = {
  async delayed(options) {
    const app = await contextApp({ options: { ...options, ...queues('q') } });
    const { backend } = app.get(DlxBroker);
    expect(backend.delayed === undefined).toBe(isRabbitMq);
    const record = new DlxRecordBuilder(1).setExchange('').build();
    const failure = await failureOf(emitted(app.get(DlxClient), 'q', record, { delay: 3_601_000 }));
    // A wait queue is there only where the delay was rounded up.
    expect((await backend.status('wait.4000000'))?.messages).toBe(isRabbitMq ? 1 : undefined);
    expect(stepUp(3_601_000)).toBe(4_000_000);
    const steps = Array.from({ length: 100_000 }, (_, delay) => stepUp(delay + 10) / (delay + 10));
    expect(steps.reduce((most, one) => Math.max(most, one))).toBeLessThanOrEqual(1.28);
    return failure;
  },
  async delayedExpiration(options) {
    const app = await contextApp({ options: { ...options, ...queues('q') } });
    const record = new DlxRecordBuilder(1).setExchange('').setExpiration('1m').build();
    return failureOf(emitted(app.get(DlxClient), 'q', record, { delay: 20 }));
  },
  async cancelDelayed(options) {
    const app = await contextApp({ options: { ...options, ...queues('q') } });
    const client = app.get(DlxClient);
    await emitted(client, 'q', new DlxRecordBuilder(1).setExchange('').build(), { delay: '1h', messageId: 'm' });
    return failureOf(client.cancelDelayed('m', '').then((count) => expect(count).toBe(1)));
  },
  async browse(options) {
    const app = await contextApp({ options: { ...options, ...queues('q') } });
    await emitted(app.get(DlxClient), 'q', new DlxRecordBuilder(1).setExchange('').build());
    const looked = await failureOf(firstValueFrom(app.get(DeadLetters).replay('q')));
    const dry = await app.get(Redrives).start({ from: 'q', dryRun: true }).ended;
    expect((dry.error as Error | undefined)?.message).toBe(looked);
    return looked;
  },
  async pattern(options) {
    const app = await contextApp({ options: { ...options, ...queues('q') } });
    await emitted(app.get(DlxClient), 'q', new DlxRecordBuilder(1).setExchange('').build());
    return failureOf(firstValueFrom(app.get(DeadLetters).from(/^q$/)));
  },
  async expired(options) {
    const topology = { queues: [queue('q', { ttl: 1, deadLetter: ['', 'dead'] }), 'dead'] };
    const app = await contextApp({ options: { ...options, topology } });
    const { backend, events } = app.get(DlxBroker);
    const kinds: string[] = [];
    events.subscribe(({ kind }) => kinds.push(kind));
    backend.publish({ ...direct, routingKey: 'q' });
    await until(async () => expect(await backend.status('dead')).toMatchObject({ messages: 1 }));
    expect(kinds).toEqual(isEmbedded ? ['expired'] : []);
    return undefined;
  },
  async errorHeaders(options) {
    const app = await contextApp({ providers: [failing(DeadLetter('dlx')).Work, Morgue], options });
    app.get(DlxBroker).backend.publish({ ...direct, routingKey: 'work' });
    await until(() => expect(app.get(Morgue).bodies).toHaveLength(1));
    expect(app.get(Morgue).bodies[0]!.headers['dlx-error-class']).toBe(isEmbedded ? 'TypeError' : undefined);
    return undefined;
  },
  async lastError(options) {
    const known: unknown[] = [];
    for (const [index, backoff] of [20, [20, 30], 20].entries()) {
      const { Work, contexts } = failing(Retry({ attempts: 3, backoff }));
      const app = await contextApp({
        providers: [Work],
        options: { ...(index === 0 ? options : { broker: freshBroker() }), ...(index < 2 && { errorHistory: 0 }) },
      });
      app.get(DlxBroker).backend.publish({ ...direct, routingKey: 'work' });
      await until(() => expect(contexts).toHaveLength(3));
      known.push(contexts.at(-1)!.lastError?.message);
    }
    expect(known).toEqual([isEmbedded ? 'down' : undefined, 'down', 'down']);
    return undefined;
  },
  async origin(options) {
    const app = await contextApp({ options: { ...options, ...queues('dead') } });
    const headers = new Map([
      ['dlx-first-exchange', longstr('shop')],
      ['dlx-first-routing-key', longstr('forged')],
    ]);
    app.get(DlxBroker).backend.publish({ ...direct, routingKey: 'dead', properties: { headers } });
    const { origin, claimedOrigin } = await firstValueFrom(app.get(DeadLetters).from('dead'));
    expect(claimedOrigin).toEqual({ exchange: 'shop', routingKey: 'forged' });
    expect(origin).toEqual(isEmbedded ? { exchange: '', routingKey: 'dead' } : claimedOrigin);
    return undefined;
  },
  async atomic(options) {
    const app = await contextApp({ options: { ...options, ...queues('q', 'next') } });
    const { backend } = app.get(DlxBroker);
    const settled: boolean[] = [];
    await new Promise((resolve) => {
      backend.consume('q', { prefetch: 1 }, (delivery) => {
        delivery.replaceBy({ ...direct, routingKey: 'next', mandatory: true }, () =>
          resolve(settled.push(delivery.settled)),
        );
        settled.push(delivery.settled);
      });
      backend.publish({ ...direct, routingKey: 'q' });
    });
    // On servers it is settled after the confirm only. test/durability/replace-cuts.spec.ts shows that `serve` does both in one step.
    expect(settled).toEqual(isEmbedded ? [true, true] : [false, true]);
    return undefined;
  },
  async unacknowledged(options) {
    const app = await contextApp({ options: { ...options, ...queues('q') } });
    const { backend } = app.get(DlxBroker);
    backend.publish({ ...direct, routingKey: 'q' });
    await new Promise((resolve) => backend.consume('q', { prefetch: 1 }, resolve));
    const known = isEmbedded ? 1 : undefined;
    expect(await backend.status('q')).toEqual({ messages: 0, consumers: 1, unacknowledged: known });
    return undefined;
  },
  async givenUp({ broker = freshBroker() }) {
    const { runs, start } = ticking({ broker });
    await start();
    const asker = await contextApp({ options: { broker } });
    const asked = asker.get(DlxClient).send('silent', {}).subscribe();
    await until(() => expect(runs.begun).toBe(1));
    asked.unsubscribe();
    if (isEmbedded) await until(() => expect(runs.torn).toBe(1));
    else {
      await new Promise((resolve) => setTimeout(resolve, 50)); // time for what must not happen
      expect(runs.torn).toBe(0);
    }
    await asker.close();
    await expect.poll(() => runs.torn, { timeout: 8_000 }).toBe(1);
    return undefined;
  },
  exchangeType: (options) =>
    failureOf(contextApp({ options: { ...options, topology: { exchanges: [{ name: 'x', type: 'topik' }] } } })),
  async missingExchange(options) {
    const app = await contextApp({ options });
    return failureOf(emitted(app.get(DlxClient), 'x', new DlxRecordBuilder(1).setExchange('missing').build()));
  },
};

it.runIf(isRabbitMq)('pattern, with option management', async () => {
  expect(await checks.pattern({ broker: freshBroker({ management: managementUrl }) })).toBeUndefined();
});

const names = Object.keys(checks) as DifferenceName[];

describe(`what differs between the brokers, as the table says: ${place}`, () => {
  it.each(names)('%s', { timeout: 15_000 }, async (name) => {
    const { errors = {} } = differences[name];
    const failure = await checks[name]({ broker: freshBroker() });
    expect(failure && anonymous(failure)).toBe(errors[place]);
  });

  it.runIf(place === 'serve').each(names.filter((name) => differences[name].errors?.['serve without `--http`']))(
    '%s, without --http',
    async (name) => {
      const failure = await checks[name]({ broker: freshBroker({ http: false }) });
      expect(failure && anonymous(failure)).toBe(differences[name].errors!['serve without `--http`']);
    },
  );
});
