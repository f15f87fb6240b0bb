import { describe, expect, it } from 'vitest';
import { policyPatterns } from '../../../platform/index.js';
import { toFieldTable } from '../../../engine/message/index.js';
import { policyConflicts, type ShownPolicy } from './policies.js';

const queue = (args: Parameters<typeof toFieldTable>[0] = {}, name = 'orders') => ({
  name,
  durable: true,
  exclusive: false,
  autoDelete: false,
  arguments: toFieldTable(args),
});

const policy = (definition: ShownPolicy['definition'], more: Partial<ShownPolicy> = {}): ShownPolicy => ({
  name: 'p',
  pattern: '^orders',
  'apply-to': 'queues',
  priority: 0,
  definition,
  isOperator: false,
  ...more,
});

const found = (asked: ReturnType<typeof queue>, ...policies: ShownPolicy[]): readonly string[] =>
  policyConflicts(asked, policies, policyPatterns).map(({ policy: { name }, key, value, asked: argument }) => {
    return `${name}: ${key} ${String(value)}, asked for ${argument}`;
  });

const dead = { 'x-dead-letter-exchange': 'd' };
const quorum = { ...dead, 'x-queue-type': 'quorum', 'x-delivery-limit': 20 };
const wait = { 'x-message-ttl': 5_000, 'x-dead-letter-exchange': '' };

describe('a policy is a conflict', () => {
  it.each([
    ['that lowers a number', queue(quorum), { 'delivery-limit': 3 }, ['p: delivery-limit 3, asked for 20']],
    ['that raises one', queue(quorum), { 'delivery-limit': 30 }, []],
    ['that deletes the queue', queue(quorum), { expires: 1_000 }, ['p: expires 1000, asked for none']],
    ['that lets messages vanish', queue(), { 'message-ttl': 9 }, ['p: message-ttl 9, asked for none']],
    ['that lets messages expire into a dead-letter exchange', queue(dead), { 'message-ttl': 9 }, []],
    ['that brings a dead-letter exchange', queue(), { 'message-ttl': 9, 'dead-letter-exchange': 'd' }, []],
    ['that drops messages', queue(), { 'max-length': 9 }, ['p: max-length 9, asked for none']],
    ['that refuses messages', queue(), { 'max-length': 9, overflow: 'reject-publish' }, []],
    ['that shortens a wait', queue(wait), { 'message-ttl': 9 }, ['p: message-ttl 9, asked for 5000']],
    ['that cuts a wait queue', queue(wait), { 'max-length': 9 }, ['p: max-length 9, asked for none']],
    [
      'that leads out of a wait queue on another way',
      queue(wait),
      { 'dead-letter-routing-key': 'k' },
      ['p: dead-letter-routing-key k, asked for none'],
    ],
    ['that addresses dead letters of a work queue', queue(dead), { 'dead-letter-routing-key': 'k' }, []],
    [
      'that takes reject-publish from at-least-once',
      queue({ ...quorum, 'x-dead-letter-strategy': 'at-least-once' }),
      { overflow: 'drop-head' },
      ['p: overflow drop-head, asked for none'],
    ],
    ['that changes what an argument sets', queue({ 'x-overflow': 'reject-publish' }), { overflow: 'drop-head' }, []],
  ] as const)('%s', (_, asked, definition, conflicts) => {
    expect(found(asked, policy(definition))).toEqual(conflicts);
  });

  it('only when it applies: by its pattern, its kind of objects and the type of the queue (rule F8)', () => {
    const expiring = { expires: 9 };
    expect(found(queue(), policy(expiring, { pattern: '^invoices' }))).toEqual([]);
    expect(found(queue(), policy(expiring, { 'apply-to': 'exchanges' }))).toEqual([]);
    expect(found(queue(), policy(expiring, { 'apply-to': 'quorum_queues' }))).toEqual([]);
    expect(found(queue(quorum), policy(expiring, { 'apply-to': 'quorum_queues' }))).toHaveLength(1);
    expect(found(queue(), policy({ ...expiring, 'delivery-limit': 3 }))).toEqual([]);
    expect(found(queue(), policy(expiring, { pattern: '(' }))).toEqual([]);
  });

  it('of several by the one with the highest priority, and by one of the operator beside it', () => {
    const weak = policy({ expires: 9 }, { name: 'weak', priority: 1 });
    const strong = policy({ 'max-length': 9 }, { name: 'strong', priority: 2 });
    const operator = policy({ 'message-ttl': 9 }, { name: 'operator', isOperator: true });
    expect(found(queue(), weak, strong, operator)).toEqual([
      'strong: max-length 9, asked for none',
      'operator: message-ttl 9, asked for none',
    ]);
  });
});
