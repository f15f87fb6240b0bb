import { ForbiddenException } from '@nestjs/common';
import { expect, it } from 'vitest';
import { die } from '../../../../../test/harnesses/die.js';
import { Message } from '../../engine/message/index.js';
import type { EventLog } from '../log/event-log.js';
import { Denials, FailureLog } from './failure-log.js';
import type { Taken } from './handler.js';
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
  const error = new AttemptsExhaustedError('Orders.handle', 3);
  log.settled(taken as unknown as Taken, { kind: 'parked', attempt: 4, fate: "parked in 'orders.parked'", error });
  expect(lines).toEqual([
    "Orders.handle: a message failed that had its 3 attempts, queue 'orders', parked in 'orders.parked': AttemptsExhaustedError: " +
      'Orders.handle is not asked any more: the message failed 3 times',
  ]);
});

it('a handler may throw undefined, which is an error; a message at a closed gate has none', () => {
  const found: unknown[] = [];
  const write = (_: string, text: string, fields: () => object): unknown => found.push([text, fields()]);
  const log = new FailureLog({ logging: {}, writes: () => true, write } as unknown as EventLog, 'all');
  const taken = {
    delivery: { queue: 'orders' },
    planned: { handler: { origin: 'Orders.handle' } },
  } as unknown as Taken;
  log.settled(taken, { kind: 'retried', attempt: 1, delay: 5, error: undefined });
  log.settled(taken, { kind: 'held', attempt: 1, delay: 5, error: undefined });
  expect(found).toEqual([
    [expect.stringContaining('undefined was thrown'), expect.objectContaining({ errorClass: 'undefined', delay: 5 })],
    [expect.stringContaining('its circuit is open'), expect.objectContaining({ errorClass: undefined, delay: 5 })],
  ]);
});

it('a denied message is warned of if it is a dead letter of another queue', () => {
  const lines: unknown[] = [];
  const denials = new Denials({ write: (event: string) => void lines.push(event) } as unknown as EventLog);
  const fresh = new Message('shop', 'order.created', {}, new Uint8Array());
  const [exchange, routingKeys] = ['shop', ['order.created']];
  const dead = die(fresh, { queue: 'orders', reason: 'rejected', exchange, routingKeys, count: 1, time: 0 });
  denials.note(new ForbiddenException(), { message: fresh, queue: 'dead' }, 'Shop.bury');
  expect(lines).toEqual([]);
  // Its own retry: rejected into a wait queue, from which it came back.
  const waited = die(dead, { queue: 'wait.1000', reason: 'expired', exchange, routingKeys, count: 1, time: 0 });
  denials.note(new ForbiddenException(), { message: waited, queue: 'orders' }, 'Shop.create');
  expect(lines).toEqual([]);
  denials.note(new ForbiddenException(), { message: dead, queue: 'dead' }, 'Shop.bury');
  expect(lines).toEqual(['denied']);
});
