import { AsyncLocalStorage } from 'node:async_hooks';
import { NEVER, Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { OwnTimers } from '../../platform/index.js';
import { ManualClock } from '../../testing.js';
import { answeredWithin, expiringIn, RequestTimeoutError } from './request-timeout.js';

const failure = (): Error => new RequestTimeoutError('price', 50);

const noting = (seen: unknown[]) => ({
  next: (value: unknown) => void seen.push(value),
  error: (error: Error) => void seen.push(error.message),
  complete: () => void seen.push('complete'),
});

describe('the timeout of a request', () => {
  it('fails without an answer, and unsubscribes from the answers', () => {
    const clock = new ManualClock();
    const seen: unknown[] = [];
    let isAsked = false;
    const answers = new Observable(() => {
      isAsked = true;
      return () => (isAsked = false);
    });
    answeredWithin(answers, 50, new OwnTimers(clock), failure).subscribe(noting(seen));
    clock.advance(49);
    expect([isAsked, ...seen]).toEqual([true]);
    clock.advance(1);
    expect([isAsked, ...seen]).toEqual([false, "no answer to 'price' within 50 ms"]);
  });

  it('counts until the first answer, and not until the last', () => {
    const clock = new ManualClock();
    const seen: unknown[] = [];
    const answers = new Subject<number>();
    answeredWithin(answers, 50, new OwnTimers(clock), failure).subscribe(noting(seen));
    clock.advance(49);
    answers.next(1);
    clock.advance(1_000);
    answers.next(2);
    answers.complete();
    expect(seen).toEqual([1, 2, 'complete']);
  });

  it('leaves no timer behind when the answer came, failed, or is not wanted any more', () => {
    const clock = new ManualClock();
    const seen: unknown[] = [];
    const [answered, failed] = [new Subject<number>(), new Subject<number>()];
    answeredWithin(answered, 50, new OwnTimers(clock), failure).subscribe(noting(seen));
    answeredWithin(failed, 50, new OwnTimers(clock), failure).subscribe(noting(seen));
    answeredWithin(NEVER, 50, new OwnTimers(clock), failure).subscribe(noting(seen)).unsubscribe();
    answered.complete();
    failed.error(new Error('refused'));
    clock.advance(1_000);
    expect(seen).toEqual(['complete', 'refused']);
  });

  it('is reported in the async context of the subscriber', () => {
    const clock = new ManualClock();
    const tenants = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    tenants.run('a', () =>
      answeredWithin(NEVER, 50, new OwnTimers(clock), failure).subscribe({
        error: () => seen.push(tenants.getStore()),
      }),
    );
    clock.advance(50);
    expect(seen).toEqual(['a']);
  });

  it.each<readonly [string | undefined, string]>([
    [undefined, '50'],
    ['40', '40'],
    ['60', '50'],
    ['+60', '50'],
    // RabbitMQ refuses these, and would not see them otherwise (rule B3).
    ...['', '-1', '-60', 'soon', '60s', '60.5', ' 60', '6e1', '315360000001'].map((none) => [none, none] as const),
  ])('and the expiration %s of a record: the shorter counts', (expiration, expected) => {
    const publication = { exchange: '', routingKey: 'q', properties: { expiration }, body: new Uint8Array() };
    expect(expiringIn(publication, 50).properties.expiration).toBe(expected);
  });
});
