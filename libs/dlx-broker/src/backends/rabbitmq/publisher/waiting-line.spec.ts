import { describe, expect, it } from 'vitest';
import { Outgoing, WaitingLine } from './outgoing.js';

const named = (routingKey: string): Outgoing =>
  new Outgoing({ exchange: '', routingKey, properties: {}, body: Buffer.of() }, undefined, 0, 0);

describe('a line of waiting messages', () => {
  it('keeps its order like a list, whatever is put back', () => {
    const line = new WaitingLine();
    const list: Outgoing[] = [];
    const taken: Outgoing[] = [];
    let seed = 7;
    const below = (most: number): number => (seed = (seed * 48_271) % 2_147_483_647) % most;
    for (let step = 0; step < 5_000; step++) {
      const choice = below(4);
      if (choice < 2) {
        const next = named(`${step}`);
        line.push(next);
        list.push(next);
      } else if (choice === 2) {
        for (let left = below(8); left > 0 && list.length > 0; left--) {
          const next = line.take()!;
          expect(next).toBe(list.shift());
          taken.push(next);
        }
      } else {
        const back = taken.splice(0, below(step % 1_000 === 3 ? 5_000 : 6));
        line.putFirst(back);
        list.unshift(...back);
      }
      expect(line.isEmpty).toBe(list.length === 0);
    }
    while (list.length > 0) expect(line.take()).toBe(list.shift());
    expect([line.take(), line.isEmpty]).toEqual([undefined, true]);
  });
});
