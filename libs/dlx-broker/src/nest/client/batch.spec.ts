import { describe, expect, it } from 'vitest';
import { Batch, type InBatch } from './batch.js';

class Item implements InBatch {
  slot = -1;

  constructor(readonly name: string | number) {}
}

/** A batch whose end of the tick comes when the case says so. */
function made() {
  const scheduled: (() => void)[] = [];
  const due: (string | number)[] = [];
  const batch = new Batch<Item>(
    (run) => void scheduled.push(run),
    ({ name }) => void due.push(name),
  );
  const end = (): void => {
    for (const run of scheduled.splice(0)) run();
  };
  return { batch, due, scheduled, end };
}

describe('a batch', () => {
  it('holds none of 50,000 items that left within one tick, and is scheduled once for all', () => {
    const { batch, due, scheduled, end } = made();
    let most = 0;
    for (let count = 0; count < 50_000; count++) {
      const item = new Item(count);
      batch.add(item);
      most = Math.max(most, batch.size);
      batch.leave(item);
    }
    expect([most, batch.size, scheduled.length]).toEqual([1, 0, 1]);
    end();
    expect(due).toEqual([]);
  });

  it('calls each that stayed, once', () => {
    const { batch, due, scheduled, end } = made();
    const items = ['a', 'b', 'c', 'd'].map((name) => new Item(name));
    for (const item of items) batch.add(item);
    batch.leave(items[1]!);
    batch.leave(items[1]!);
    end();
    expect(due.toSorted()).toEqual(['a', 'c', 'd']);
    expect([batch.size, scheduled.length]).toEqual([0, 0]);
    end();
    expect(due).toHaveLength(3);
  });

  it('takes items again after a tick, and while it calls others', () => {
    const { due, scheduled, end } = made();
    const again = new Item('again');
    const batch = new Batch<Item>(
      (run) => void scheduled.push(run),
      (item) => {
        due.push(item.name);
        if (item !== again) batch.add(again);
      },
    );
    const first = new Item('first');
    batch.add(first);
    end();
    expect([due, batch.size]).toEqual([['first'], 1]);
    end();
    batch.add(first);
    end();
    expect(due).toEqual(['first', 'again', 'first']);
  });

  it('calls the others in the next tick when one throws', () => {
    const { due, scheduled, end } = made();
    const batch = new Batch<Item>(
      (run) => void scheduled.push(run),
      ({ name }) => {
        if (name === 'bad') throw new Error('bad');
        due.push(name);
      },
    );
    for (const name of ['a', 'bad', 'b', 'c']) batch.add(new Item(name));
    expect(end).toThrow('bad');
    expect([due, scheduled.length]).toEqual([['a'], 1]);
    end();
    expect(due).toEqual(['a', 'b', 'c']);
  });
});
