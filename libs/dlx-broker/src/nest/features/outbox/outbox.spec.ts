import { describe, expect, it } from 'vitest';
import type { BackendDelivery, Done, Publication } from '../../../backends/index.js';
import { Outbox } from './outbox.js';

const publication: Publication = { exchange: '', routingKey: 'out', properties: {}, body: new Uint8Array() };

/** A delivery whose commit the test writes. */
const deliveryOf = (commit: (publications: readonly Publication[], done: Done) => void) =>
  ({ commit }) as unknown as BackendDelivery;

describe('an outbox', () => {
  it('tells the failure of an event that could not be declared, also when the commit succeeds', async () => {
    const outbox = new Outbox();
    const ends: (string | undefined)[] = [];
    outbox.hold({ publication }, (failure) => ends.push(failure?.message));
    outbox.holdLater(Promise.reject(new Error('no such queue')), (failure) => ends.push(failure?.message));
    const committed: number[] = [];
    const done = new Promise<Error | undefined>((resolve) =>
      outbox.commit(
        deliveryOf((publications, stored) => {
          committed.push(publications.length);
          stored();
        }),
        resolve,
      ),
    );
    expect([await done, committed, ends]).toEqual([undefined, [1], ['no such queue', undefined]]);
  });

  it('ends its commit once, also when a backend answers and then throws', () => {
    const outbox = new Outbox();
    const ends: (Error | undefined)[] = [];
    const answering = deliveryOf((_, stored) => {
      stored();
      throw new Error('a bug of the backend');
    });
    expect(() => outbox.commit(answering, (failure) => ends.push(failure))).not.toThrow();
    expect([ends, outbox.failure]).toEqual([[undefined], undefined]);
  });

  it('fails each further commit with the failure of the first one: what was emitted is dropped', () => {
    const outbox = new Outbox();
    const ends: (string | undefined)[] = [];
    const refusing = deliveryOf((_, stored) => stored(new Error('refused')));
    outbox.commit(refusing, (failure) => ends.push(failure?.message));
    outbox.commit(refusing, (failure) => ends.push(failure?.message));
    expect(ends).toEqual(['refused', 'refused']);
  });

  it.each(['under way', 'over'])('has no failure by what comes when its commit is %s', (when) => {
    const outbox = new Outbox();
    const ends: (Error | undefined)[] = [];
    let store: Done | undefined;
    outbox.commit(
      deliveryOf((_, stored) => void (store = stored)),
      (failure) => ends.push(failure),
    );
    if (when === 'over') store?.();
    outbox.fail(new Error('emitted too late'));
    if (when === 'under way') store?.();
    expect([ends, outbox.failure]).toEqual([[undefined], undefined]);
  });
});
