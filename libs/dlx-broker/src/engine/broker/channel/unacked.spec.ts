import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outstanding } from './outputs.js';
import { Unacked } from './unacked.js';

const record = (deliveryTag: number): Outstanding => ({ deliveryTag, settled: false }) as Outstanding;

describe('unacknowledged deliveries', () => {
  it('rules A3, A4: are settled one by one in any order or up to a tag, never twice', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), gap: fc.nat(2) }),
      fc.record({ do: fc.constant('take' as const), tag: fc.nat(300) }),
      fc.record({ do: fc.constant('upTo' as const), tag: fc.nat(300) }),
      fc.record({ do: fc.constant('handOver' as const), tag: fc.nat(300) }),
      fc.record({ do: fc.constant('rollback' as const), tags: fc.array(fc.nat(300), { maxLength: 9 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const unacked = new Unacked();
        const tags = new Set<number>();
        let last = 0;
        for (const each of steps) {
          if (each.do === 'add') {
            last += 1 + each.gap; // no-ack deliveries and gets use up tags too
            unacked.add(record(last));
            tags.add(last);
          } else if (each.do === 'take') {
            expect(unacked.take(each.tag)?.deliveryTag).toBe(tags.delete(each.tag) ? each.tag : undefined);
          } else if (each.do === 'upTo') {
            const upTo = [...tags].filter((tag) => each.tag === 0 || tag <= each.tag);
            expect(unacked.reaches(each.tag)).toBe([...tags].some((tag) => tag >= each.tag));
            expect(unacked.takeUpTo(each.tag).map(({ deliveryTag }) => deliveryTag)).toEqual(upTo);
            for (const tag of upTo) tags.delete(tag);
          } else if (each.do === 'handOver') {
            const upTo = [...tags].filter((tag) => each.tag === 0 || tag <= each.tag);
            const taken: number[] = [];
            const records = unacked.handOver(unacked.reachOf(each.tag));
            records.each(({ deliveryTag, settled }) => void (settled || taken.push(deliveryTag)));
            expect(taken).toEqual(upTo);
            for (const tag of upTo) tags.delete(tag);
          } else {
            const held = each.tags.map((tag) => unacked.take(tag)).filter((taken) => taken !== undefined);
            unacked.restore(held); // rule K8
          }
          expect(unacked.count).toBe(tags.size);
          expect(unacked.first()?.deliveryTag).toBe(tags.values().next().value);
        }
        const seen: number[] = [];
        unacked.each(({ deliveryTag }) => void seen.push(deliveryTag));
        expect(seen).toEqual([...tags]);
      }),
    );
  });
});
