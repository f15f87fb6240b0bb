import { Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxContext, queue, Retry } from 'dlx-broker';
import { DlxTesting, type TransportOptions } from 'dlx-broker/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { attempts, cases, fails, isAsked, styles } from './bounded-cases.js';

/*
 * Whatever becomes of a message under a retry policy, however it is retried: its handler runs three times at most, and in
 * the end the message lies in one place. Nothing goes round.
 */

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

const second = 1_000;

describe.each(Object.entries(styles(second)))('retried %s', (_, style) => {
  const { policy, own } = style;
  it.each(Object.entries(cases(second)))('%s: bounded, and in one place at the end', async (_, given) => {
    const { work, above = [], body, scope } = given;
    const { runs = attempts } = isAsked(style, given) ? given : {};
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
