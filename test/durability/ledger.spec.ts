import { describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { MemoryJournal } from './memory-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { Both } from './both.js';
import { describeBroker } from './describe-broker.js';
import { asleep, lent } from './harness.js';
import { Ledger } from './ledger.js';
import { Workload } from './workload.js';

describe('the ledger of the power cuts', () => {
  it('knows what the journal in memory knows, whatever the clients do', () => {
    let messages = 0;
    let confirms = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const random = new Random(seed);
      const rabbitmq = random.pick(['3.10', '4'] as const);
      const clock = new ManualClock();
      const memory = new MemoryJournal(true);
      const ledger = new Ledger();
      const broker = new Broker({ ...lent(clock, rabbitmq), journal: new Both(ledger, memory) });
      const confirmed = (messageId: string): void => {
        confirms++;
        expect(ledger.isSafe(messageId), messageId).toBe(true);
      };
      const workload = new Workload(broker, { random, clock, confirmed });
      for (let step = 0; step < 300; step++) {
        workload.step();
        if (!random.chance(0.1)) continue;
        memory.sync();
        ledger.becameSafe(ledger.committed);
        const found = new Broker({ ...lent(new ManualClock(clock.now()), rabbitmq), pace: asleep().pace });
        memory.fork().restore(found);
        const [state] = ledger.possible().states();
        const should = new Broker({ ...lent(new ManualClock(clock.now()), rabbitmq), pace: asleep().pace });
        state?.restore(should);
        expect(describeBroker(found), `seed ${seed} step ${step}`).toBe(describeBroker(should));
        for (const queue of found.virtualHost('/').queues.values()) messages += queue.length;
      }
    }
    // A ledger of nothing would agree with everything.
    expect(messages).toBeGreaterThan(1_000);
    expect(confirms).toBeGreaterThan(1_000);
  });
});
