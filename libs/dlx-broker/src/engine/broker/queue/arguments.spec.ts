import { describe, expect, it } from 'vitest';
import {
  array,
  bool,
  emptyTable,
  type Field,
  type FieldTable,
  int32,
  int64,
  longstr,
  table,
} from '../../message/index.js';
import {
  checkConsumerArguments,
  checkDlxArgumentType,
  checkQueueArguments,
  checkServerNamed,
  queueTypeOf,
} from '../commands/consume.js';
import { checkSameQueue } from '../commands/declare.js';
import { overflowNames } from './overflow.js';

const tableOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));
const byte = (value: number): Field => ({ type: 'b', value });
const double = (value: number): Field => ({ type: 'd', value });
const quorum = { 'x-queue-type': longstr('quorum') };
const declare = (args: Record<string, Field>, durable = true, exclusive = false, autoDelete = false) => {
  checkDlxArgumentType('Q', 'V', tableOf(args));
  checkQueueArguments('Q', 'V', tableOf(args), durable, exclusive, autoDelete);
};

describe('an argument of a new queue is refused', () => {
  it.each<[string, Field, string]>([
    ['x-expires', byte(0), '{value_zero,0}'],
    ['x-expires', byte(-1), '{value_negative,-1}'],
    ['x-expires', int64(315_360_000_001), '{value_too_large,315360000001}'],
    ['x-message-ttl', int64(9_007_199_254_740_993n), '{value_too_large,9007199254740993}'],
    ['x-message-ttl', longstr('1'), '"expected integer, got longstr"'],
    ['x-message-ttl', double(1), '"expected integer, got double"'],
    ['x-message-ttl', { type: 'T', value: 1 }, '"expected integer, got timestamp"'],
    ['x-dead-letter-routing-key', longstr('k'), 'routing_key_but_no_dlx_defined'],
    ['x-dead-letter-routing-key', byte(1), '{unacceptable_type,byte}'],
    ['x-max-length', int32(-1), '{value_negative,-1}'],
    ['x-max-length-bytes', bool(true), '"expected integer, got bool"'],
    ['x-max-priority', int32(256), '{max_value_exceeded,256}'],
    ['x-overflow', longstr('drop-tail'), 'invalid_overflow'],
    ['x-overflow', byte(1), '{unacceptable_type,byte}'],
    ['x-queue-mode', longstr('quick'), `"unsupported queue mode 'quick'"`],
    ['x-queue-version', byte(3), `"unsupported queue version '3'"`],
    ['x-single-active-consumer', longstr('true'), '{unacceptable_type,longstr}'],
    ['x-queue-type', longstr('magic'), `"unsupported queue type 'magic'"`],
    ['x-queue-type', byte(1), '{unacceptable_type,byte}'],
  ])('%s %o: %s (rule F9)', (name, value, reason) => {
    expect(() => declare({ [name]: value })).toThrow(
      `PRECONDITION_FAILED - invalid arg '${name}' for queue 'Q' in vhost 'V': ${reason}`,
    );
  });

  it('when the dead-letter exchange is no name (rule F9)', () => {
    expect(() => declare({ 'x-dead-letter-exchange': byte(5) })).toThrow(
      "PRECONDITION_FAILED - invalid type 'byte' for arg 'x-dead-letter-exchange' in queue 'Q' in vhost 'V'",
    );
  });

  it('in the order of the table, the queue type first, keys of other types last (rule F9)', () => {
    const wrong = { 'x-overflow': byte(1), 'x-max-length': byte(-1), 'x-delivery-limit': byte(1) };
    expect(() => declare(wrong)).toThrow("'x-max-length'");
    expect(() => declare({ ...wrong, 'x-queue-type': longstr('magic') })).toThrow("'x-queue-type'");
    expect(() => declare({ 'x-delivery-limit': byte(1), 'x-overflow': byte(1) })).toThrow("'x-overflow'");
  });

  it('by a queue type that does not know it (rule D9)', () => {
    const of = (type: string) => `for queue 'Q' in vhost 'V' of queue type rabbit_${type}_queue`;
    expect(() => declare({ ...quorum, 'x-max-priority': byte(-1) })).toThrow(
      `invalid arg 'x-max-priority' ${of('quorum')}`,
    );
    for (const name of ['x-delivery-limit', 'x-dead-letter-strategy', 'x-max-age', 'x-max-in-memory-length']) {
      expect(() => declare({ [name]: byte(1) })).toThrow(`invalid arg '${name}' ${of('classic')}`);
    }
  });

  it.each<[string, boolean, boolean, boolean]>([
    ['non-durable', false, false, false],
    ['exclusive-owner', false, true, false],
    ['auto-delete', false, true, true],
  ])('because of a property that quorum queues lack: %s (rule D1)', (name, durable, exclusive, autoDelete) => {
    expect(() => declare(quorum, durable, exclusive, autoDelete)).toThrow(
      `PRECONDITION_FAILED - invalid property '${name}' for queue 'Q' in vhost 'V'`,
    );
    expect(() => declare({}, durable, exclusive, autoDelete)).not.toThrow();
  });
});

describe('an argument of a new queue is accepted', () => {
  it('as any integer type, and with an unknown name (rule F9)', () => {
    for (const type of ['b', 'B', 's', 'u', 'I', 'i', 'l'] as const) {
      expect(() => declare({ 'x-message-ttl': { type, value: 100 } })).not.toThrow();
    }
    expect(() => declare({ 'x-nobody': table(emptyTable), constructor: byte(1) })).not.toThrow();
  });

  it('at its limits (rules B1, B12, F5, R1)', () => {
    const longest = int64(315_360_000_000);
    expect(() =>
      declare({ 'x-message-ttl': longest, 'x-expires': longest, 'x-max-priority': int32(255) }),
    ).not.toThrow();
    expect(() =>
      declare({ 'x-message-ttl': byte(0), 'x-max-length': byte(0), 'x-max-priority': byte(0) }),
    ).not.toThrow();
    expect(() =>
      declare({ 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('') }),
    ).not.toThrow();
  });
});

describe('a queue type', () => {
  it('is classic unless it is said to be quorum (rule D1)', () => {
    expect(queueTypeOf(emptyTable)).toBe('classic');
    expect(queueTypeOf(tableOf(quorum))).toBe('quorum');
    expect(() => checkServerNamed(emptyTable)).not.toThrow();
    expect(() => checkServerNamed(tableOf(quorum))).toThrow(
      'PRECONDITION_FAILED - Cannot declare a server-named queue for type rabbit_quorum_queue',
    );
  });
});

describe('redeclaring a queue', () => {
  const redeclare = (
    current: Record<string, Field>,
    received: Record<string, Field>,
    more: { durable?: boolean; autoDelete?: boolean } = {},
  ) => {
    const args = tableOf(current);
    const existing = { durable: true, autoDelete: false, arguments: args, type: queueTypeOf(args) };
    checkSameQueue('Q', 'V', existing, { ...existing, arguments: tableOf(received), ...more });
  };
  const ttl = (value: Field) => ({ 'x-message-ttl': value });
  const text = (name: string, rest: string) =>
    `PRECONDITION_FAILED - inequivalent arg '${name}' for queue 'Q' in vhost 'V': received ${rest}`;

  it.each<[string, Record<string, Field>, Record<string, Field>]>([
    ['integers of other types (rule F11)', ttl(byte(100)), ttl(int64(100n))],
    ['unknown arguments (rule F11)', {}, { 'x-nobody': byte(1) }],
    ['arguments of other queue types', {}, { 'x-delivery-limit': byte(1) }],
    ['the default type, named', {}, { 'x-queue-type': longstr('classic') }],
    ['the default type, no longer named', { 'x-queue-type': longstr('classic') }, {}],
  ])('is the same with %s', (_, current, received) => {
    expect(() => redeclare(current, received)).not.toThrow();
  });

  it.each<[string, string, Record<string, Field>, Record<string, Field>]>([
    ['x-message-ttl', "'2000' but current is '1000'", ttl(int32(1000)), ttl(int32(2000))],
    ['x-message-ttl', "'1000' but current is '1000'", ttl(int32(1000)), ttl(longstr('1000'))],
    ['x-message-ttl', "'1.0e3' but current is '1000'", ttl(int32(1000)), ttl(double(1000))],
    ['x-message-ttl', "'1234.5' but current is '1000'", ttl(int32(1000)), ttl(double(1234.5))],
    ['x-message-ttl', "'true' but current is '1000'", ttl(int32(1000)), ttl(bool(true))],
    ['x-message-ttl', `'[{byte,1},{longstr,<<"a">>}]' but`, ttl(int32(1)), ttl(array([byte(1), longstr('a')]))],
    ['x-message-ttl', `'[{<<"a">>,longstr,<<"b">>}]' but`, ttl(int32(1)), ttl(table(tableOf({ a: longstr('b') })))],
    ['x-message-ttl', "the value '-1' of type 'byte' but current is none", {}, ttl(byte(-1))],
    ['x-message-ttl', "none but current is the value '5' of type 'byte'", ttl(byte(5)), {}],
    ['x-message-ttl', "none but current is '5'", ttl(byte(5)), ttl({ type: 'V', value: undefined })],
    ['x-queue-type', "the value 'quorum' of type 'longstr' but current is none", {}, quorum],
    ['x-queue-type', "none but current is the value 'quorum' of type 'longstr'", quorum, {}],
    ['x-dead-letter-exchange', 'none but', { ...ttl(byte(1)), 'x-dead-letter-exchange': longstr('x') }, ttl(byte(1))],
  ])('differs in %s: received %s (rule F10)', (name, rest, current, received) => {
    expect(() => redeclare(current, received)).toThrow(text(name, rest));
  });

  it('compares durable, then auto_delete, then the arguments in order (rule F10)', () => {
    const both = { ...ttl(byte(1)), 'x-expires': byte(1) };
    expect(() => redeclare({}, both, { durable: false, autoDelete: true })).toThrow(
      text('durable', "'false' but current is 'true'"),
    );
    expect(() => redeclare({}, both, { autoDelete: true })).toThrow(
      text('auto_delete', "'true' but current is 'false'"),
    );
    expect(() => redeclare({}, both)).toThrow("'x-expires'");
    const limited = { ...quorum, 'x-dead-letter-exchange': longstr('x'), 'x-expires': byte(1) };
    expect(() => redeclare(quorum, limited)).toThrow("'x-dead-letter-exchange'");
  });
});

describe('a consumer', () => {
  const queue = { name: 'Q', type: 'classic' } as const;

  it('may have a priority, an integer (rule Q3)', () => {
    expect(checkConsumerArguments(queue, 'V', emptyTable)).toBe(0);
    expect(checkConsumerArguments(queue, 'V', tableOf({ 'x-priority': byte(-7) }))).toBe(-7);
    expect(() => checkConsumerArguments(queue, 'V', tableOf({ 'x-priority': longstr('7') }))).toThrow(
      `PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'Q' in vhost 'V': "expected integer, got longstr"`,
    );
  });
});

describe('an overflow policy', () => {
  it('is one of the table, and nothing else (rule C3)', () => {
    expect(overflowNames).toContain('reject-publish-dlx');
    expect(overflowNames).not.toContain('constructor');
  });
});
