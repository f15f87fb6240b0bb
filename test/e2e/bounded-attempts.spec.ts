import {
  Injectable,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type ExceptionFilter,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { Ctx, Payload, RpcException } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxContext,
  Drop,
  Idempotent,
  Park,
  Reject,
  Retry,
  queue,
  RetryLater,
  type RetryPolicy,
} from 'dlx-broker';
import { DlxTesting, type TransportOptions } from 'dlx-broker/testing';
import { NEVER, of, throwError } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';

/*
 * Whatever becomes of a message under a retry policy, however it is retried: its handler runs three times at most, and in
 * the end the message lies in one place. Nothing goes round.
 */

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

type Place = 'gone' | 'parked' | 'dead';
const attempts = 3;

/** Ways to retry. `dead` has a dead-letter exchange of its own; `circle` one that leads back to the work queue. */
const styles: Readonly<Record<string, { readonly policy: Partial<RetryPolicy>; readonly own?: 'dead' | 'circle' }>> = {
  'by reject': { policy: { backoff: '1s' } },
  'by republishing': { policy: { backoff: ['1s', '2s'] } },
  'at once': { policy: { immediate: 2 } },
  'as a function says': { policy: { backoff: (attempt) => `${attempt}s` } },
  'with jitter': { policy: { backoff: { type: 'exponential', delay: '1s', jitter: 'full' } } },
  'with a deadline': { policy: { backoff: '1s', deadline: '1h' } },
  'beside @DeadLetter': { policy: { backoff: '1s' }, own: 'dead' },
  'beside @DeadLetter in a circle': { policy: { backoff: '1s' }, own: 'circle' },
};

interface Case {
  readonly work: (context: DlxContext) => unknown;
  /** Where it ends; without a word: parked after all attempts. */
  readonly ends?: Place;
  /** Rejected for good: to the dead-letter exchange of the queue where it has one. */
  readonly rejects?: true;
  /** How often the handler runs. Default: as often as it may. */
  readonly runs?: number;
  readonly above?: readonly (MethodDecorator & ClassDecorator)[] | readonly MethodDecorator[];
  readonly policy?: Partial<RetryPolicy>;
  readonly body?: Buffer;
  readonly scope?: Scope;
}

const fails = (): never => {
  throw new Error('down');
};
const works = (): void => undefined;
const guard = (say: () => boolean) => UseGuards({ canActivate: say });
const pipe: PipeTransform = { transform: fails };
const interceptor: NestInterceptor = { intercept: fails };
const filter = (answer: (error: unknown) => unknown): ExceptionFilter => ({
  catch: answer as ExceptionFilter['catch'],
});
const broken = { claim: fails, done: works, release: works };
const answers = (what: unknown) => () => what as never;
/** As an async function does that fails. */
const isLate = () => Promise.reject(new Error('late')) as never;

const cases: Readonly<Record<string, Case>> = {
  'an error': { work: fails },
  'a rejected promise': { work: () => Promise.reject(new Error('down')) },
  'a stream that fails': { work: () => throwError(() => new Error('down')) },
  'undefined, thrown': {
    work: () => {
      throw undefined;
    },
  },
  'an RpcException': {
    work: () => {
      throw new RpcException('no');
    },
  },
  'RetryLater(0)': {
    work: () => {
      throw new RetryLater(0);
    },
  },
  'RetryLater(5s)': {
    work: () => {
      throw new RetryLater('5s');
    },
  },
  Park: {
    work: () => {
      throw new Park('no');
    },
    runs: 1,
  },
  Reject: {
    work: () => {
      throw new Reject('no');
    },
    runs: 1,
    rejects: true,
  },
  Drop: {
    work: () => {
      throw new Drop();
    },
    runs: 1,
    ends: 'gone',
  },
  success: { work: works, runs: 1, ends: 'gone' },
  'ack()': { work: (context) => context.ack(), runs: 1, ends: 'gone' },
  'ack(), then an error': {
    work: (context) => {
      context.ack();
      fails();
    },
    runs: 1,
    ends: 'gone',
  },
  'ack(), then reject() and requeue()': {
    work: (context) => {
      context.ack();
      context.reject();
      context.requeue();
    },
    runs: 1,
    ends: 'gone',
  },
  'reject()': { work: (context) => context.reject(), runs: 1, rejects: true },
  'reject(), then ack() and an error': {
    work: (context) => {
      context.reject();
      context.ack();
      fails();
    },
    runs: 1,
    rejects: true,
  },
  'requeue()': { work: (context) => context.requeue() },
  'requeue(), then an error': {
    work: (context) => {
      context.requeue();
      fails();
    },
  },
  'a timeout': { work: () => NEVER, policy: { timeout: '1s' } },
  'a guard that denies': { work: works, above: [guard(() => false)], runs: 0 },
  'a guard that throws': { work: works, above: [guard(fails)], runs: 0 },
  'a pipe that throws': { work: works, above: [UsePipes(pipe)], runs: 0 },
  'an interceptor that throws': { work: works, above: [UseInterceptors(interceptor)], runs: 0 },
  'a filter that throws': { work: fails, above: [UseFilters(filter(fails))] },
  'a filter that rethrows': { work: fails, above: [UseFilters(filter((error) => throwError(() => error)))] },
  'a filter that handles': { work: fails, above: [UseFilters(filter(() => of('handled')))], runs: 1, ends: 'gone' },
  'a class that cannot be made': { work: works, scope: Scope.REQUEST, runs: 0 },
  'a body that is no JSON': { work: works, body: Buffer.from('{'), runs: 0, rejects: true },
  'retryOn that throws': { work: fails, policy: { retryOn: () => fails() }, runs: 1 },
  'retryOn that is async': { work: fails, policy: { retryOn: isLate }, runs: 1 },
  'retryOn that answers a text': { work: fails, policy: { retryOn: answers('yes') }, runs: 1 },
  'neverRetry that throws': { work: fails, policy: { neverRetry: [() => fails()] }, runs: 1 },
  'backoff that throws': { work: fails, policy: { backoff: () => fails() }, runs: 1 },
  'backoff that answers NaN': { work: fails, policy: { backoff: () => Number.NaN }, runs: 1 },
  'backoff that answers Infinity': { work: fails, policy: { backoff: () => Infinity }, runs: 1 },
  'backoff that answers -1': { work: fails, policy: { backoff: () => -1 }, runs: 1 },
  'backoff that answers a text': { work: fails, policy: { backoff: () => 'soon' }, runs: 1 },
  'backoff that answers undefined': { work: fails, policy: { backoff: answers(undefined) }, runs: 1 },
  'backoff that is async': { work: fails, policy: { backoff: isLate }, runs: 1 },
  'an idempotency store that throws': { work: works, above: [Idempotent({ store: broken })], runs: 0 },
  'an idempotency key that throws': { work: works, above: [Idempotent({ key: fails })], runs: 0 },
  'an idempotency key that is async': { work: works, above: [Idempotent({ key: isLate })], runs: 0 },
};

describe.each(Object.entries(styles))('retried %s', (_, { policy, own }) => {
  it.each(Object.entries(cases))('%s: bounded, and in one place at the end', async (_, given) => {
    const { work, above = [], body, scope } = given;
    // Where all retries are immediate the backoff is never asked.
    const isAsked = policy.immediate === undefined || given.policy?.backoff === undefined;
    const { runs = attempts } = isAsked ? given : {};
    const rejects = given.rejects === true && own !== undefined;
    let ran = 0;
    @Injectable(scope === undefined ? {} : { scope })
    class Worker {
      constructor() {
        if (scope !== undefined) fails();
      }

      handle(@Payload() data: unknown, @Ctx() context: DlxContext): unknown {
        if (++ran > 20) return; // it goes round: the test fails below, and does not hang
        return data === undefined ? undefined : work(context);
      }
    }
    const decorators = [
      Consume('work'),
      Retry({ attempts, ...policy, ...given.policy }),
      ...(own === undefined ? [] : [DeadLetter('', own === 'dead' ? 'dead' : 'circle')]),
      ...above,
    ];
    const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'handle')!;
    for (const decorate of decorators) (decorate as MethodDecorator)(Worker.prototype, 'handle', descriptor);
    const circle = { name: 'circle', ttl: '5s', deadLetter: ['', 'work'] } as const;
    const options: TransportOptions = { topology: { queues: ['dead', circle] } };
    const dlx = new DlxTesting({ logger: false });
    opened.push(dlx);
    await dlx.start({ providers: [Worker] }, options);
    await dlx.publish('work', body ?? { id: 1 }, { messageId: '1', ...(body && { contentType: 'application/json' }) });
    await dlx.advance('10m', { except: ['work'] }); // a handler that never ends holds its message

    const names = await dlx.backend.listing.queueNames();
    const places = names.filter((name) => dlx.queue(name).ready + dlx.queue(name).unacknowledged > 0);
    const inCircle = rejects && own === 'circle';
    const ends = given.ends ?? (rejects && !inCircle && runs < attempts ? 'dead' : 'parked');
    const place = rejects && own === 'dead' ? 'dead' : ends;
    expect(places).toEqual({ gone: [], parked: ['work.parked'], dead: ['dead'] }[place]);
    const most = inCircle && runs > 0 ? attempts : place === 'dead' ? Math.min(runs, 1) : runs;
    expect(ran).toBe(most);
  });
});

it('is not handled again because its parking lot is full: it stays in hand until there is room', async () => {
  let ran = 0;
  @Injectable()
  class Worker {
    @Consume('work')
    @Retry({ attempts, backoff: '1s' })
    handle(): void {
      ran++;
      throw new Error('down');
    }
  }
  const full = queue('work.parked', { maxLength: 1, overflow: 'reject-publish' });
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  await dlx.start({ providers: [Worker] }, { topology: { queues: [full] } });
  for (const id of [1, 2]) await dlx.publish('work', { id });
  await dlx.advance('5m', { except: ['work'] });
  expect([ran, dlx.queue('work.parked').ready, dlx.queue('work').unacknowledged]).toEqual([6, 1, 1]);
  dlx.broker.virtualHost('/').queues.get('work.parked')!.purge();
  await dlx.advance('4m', { except: ['work'] });
  expect([ran, dlx.queue('work.parked').ready, dlx.queue('work').unacknowledged]).toEqual([6, 1, 0]);
});

it('tells both errors when a function of the policy fails: that of the attempt and its own', async () => {
  @Injectable()
  class Worker {
    @Consume('work')
    @Retry({
      attempts,
      retryOn: (error) => (error as { code: { startsWith(text: string): boolean } }).code.startsWith('E'),
    })
    handle(): void {
      throw new RangeError('down');
    }
  }
  const warnings: string[] = [];
  const logger = {
    log: () => undefined,
    error: (text: unknown) => warnings.push(String(text)),
    warn: (text: string) => warnings.push(text),
  };
  const dlx = new DlxTesting({ logger });
  opened.push(dlx);
  await dlx.start({ providers: [Worker] });
  await dlx.publish('work', {});
  await dlx.settled();
  const [parked] = dlx.queue('work.parked').messages();
  expect(parked!.headers).toMatchObject({
    'dlx-error-class': 'RangeError',
    'dlx-error-message': 'down',
    'dlx-error-policy': expect.stringMatching(/^TypeError: .*startsWith/) as string,
  });
  expect(warnings.join('\n')).toMatch(
    /Worker\.handle: .*its policy failed \(TypeError: .*startsWith.*\): RangeError: down/,
  );
});
