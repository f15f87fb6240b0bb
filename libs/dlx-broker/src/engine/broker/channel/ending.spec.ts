import { describe, expect, it } from 'vitest';
import { Broker } from '../broker.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { silentOutbox } from '../ports.js';

const patterns = { compile: (pattern: string) => ({ matches: (name: string) => name === pattern }) };

describe('the end of a channel', () => {
  it.each([1, 2, 3])('comes to rest with %d steps in a turn, whatever it has', (budget) => {
    const later: (() => void)[] = [];
    const pace = { budget, later: (resume: () => void) => void later.push(resume) };
    const broker = new Broker({ clock: new ManualClock(), names: new CountedNames(), patterns, pace });
    const connection = broker.connect();
    const [empty, busy] = [connection.openChannel(silentOutbox), connection.openChannel(silentOutbox)];
    for (const queue of ['a', 'b', 'c']) {
      busy.declareQueue(queue);
      busy.consume(queue);
    }
    let ended = 0;
    empty.close(() => ended++);
    connection.close(() => ended++);
    let turns = 0;
    for (let resume = later.shift(); resume !== undefined && turns < 100; resume = later.shift(), turns++) resume();
    expect(ended).toBe(2);
    expect(turns).toBeLessThan(100);
  });
});
