import { array, assert, asyncProperty, constantFrom, integer, tuple } from 'fast-check';
import type { Subscription } from 'rxjs';
import { expect, it } from 'vitest';
import { deadQueue, lettersHarness } from '../../../../../test/harnesses/letters-harness.js';
import type { ConsumedLetter } from './consumed-letter.js';

const deeds = ['ack', 'reject', 'requeue', 'redrive', 'lost', 'retry', 'park', 'leave', 'hold', 'end', 'wait'] as const;

it('whatever is done with letters, only what is acked is gone, and nothing is there twice', async () => {
  const someDeeds = array(tuple(constantFrom(...deeds), integer({ min: 0, max: 5 })), { maxLength: 40 });
  await assert(
    asyncProperty(someDeeds, integer({ min: 1, max: 4 }), async (steps, prefetch) => {
      const { letters, clock, broker, queue, die, reject } = await lettersHarness();
      const bodies = Array.from({ length: 8 }, (_, index) => String(index));
      die(...bodies);
      const acked = new Set<unknown>();
      let hand: ConsumedLetter[] = [];
      let subscription: Subscription | undefined;
      const begin = (): void => {
        hand = [];
        subscription = letters.from(deadQueue, { prefetch }).subscribe((letter) => hand.push(letter));
      };
      begin();
      for (const [deed, index] of steps) {
        const letter = hand.filter(({ open }) => open)[index];
        switch (deed) {
          case 'ack':
            if (letter !== undefined) acked.add(letter.payload);
            letter?.ack();
            break;
          case 'reject':
          case 'requeue':
          case 'leave':
            letter?.[deed]();
            break;
          case 'redrive':
            await letter?.redrive();
            break;
          case 'lost':
            if (letter !== undefined) await expect(letter.redrive('nowhere')).rejects.toThrow('NO_ROUTE');
            break;
          case 'retry':
            void letter?.retryIn(100 + index);
            break;
          case 'park':
            void letter?.park();
            break;
          case 'hold':
            await Promise.resolve();
            break;
          case 'end':
            subscription?.unsubscribe();
            begin();
            break;
          case 'wait':
            clock.advance(100);
            reject('orders');
            break;
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
      subscription?.unsubscribe();
      const there = [...broker.virtualHosts.get('/')!.queues.keys()].flatMap((name) => queue(name).payloads());
      expect(there.sort()).toEqual(bodies.filter((body) => !acked.has(body)));
      for (const { unacked } of broker.virtualHosts.get('/')!.queues.values()) expect(unacked).toBe(0);
    }),
    { numRuns: 300 },
  );
});
