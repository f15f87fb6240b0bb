import { ForbiddenException } from '@nestjs/common';
import { expect, it } from 'vitest';
import { die } from '../../../../../test/harnesses/die.js';
import { Message } from '../../engine/message/index.js';
import { Denials } from './denials.js';
import type { EventLog } from '../log/event-log.js';

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
