import { expect, it } from 'vitest';
import type { EventLog } from '../log/event-log.js';
import { FailureLog, type Taken } from './failure-log.js';
import { AttemptsExhaustedError } from './settlement.js';

it('a message that comes after its last attempt is no attempt 4 of 3', () => {
  const lines: string[] = [];
  const log = new FailureLog(
    { logging: {}, write: (_: string, text: string) => void lines.push(text) } as unknown as EventLog,
    'all',
  );
  const taken = {
    delivery: { queue: 'orders' },
    planned: { handler: { origin: 'Orders.handle' }, retry: { attempts: 3 } },
  };
  log.last(taken as unknown as Taken, 4, "parked in 'orders.parked'", new AttemptsExhaustedError('Orders.handle', 3));
  expect(lines).toEqual([
    "Orders.handle: a message failed that had its 3 attempts, queue 'orders', parked in 'orders.parked': AttemptsExhaustedError: " +
      'Orders.handle is not asked any more: the message failed 3 times',
  ]);
});
