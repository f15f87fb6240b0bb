import { describe, expect, it } from 'vitest';
import { policyPatterns } from '../../../platform/patterns.js';
import { profiles } from '../profile.js';
import { Policies, PolicyError, type PolicyRequest } from './policy.js';

const policies = (kind?: 'user' | 'operator') => new Policies(policyPatterns, kind, profiles['3.10']);
const on = (pattern: string, definition: unknown, more: Partial<PolicyRequest> = {}): PolicyRequest => ({
  pattern,
  definition,
  ...more,
});
const limit = { 'max-length': 1 };

describe('a policy applies', () => {
  it('where apply-to fits (rule F8)', () => {
    const applied = (applyTo?: string) => {
      const one = policies();
      one.set('p', on('', limit, { applyTo }));
      return [one.matchQueue('q', 'classic') !== undefined, one.matchExchange('x') !== undefined];
    };
    expect(applied()).toEqual([true, true]);
    expect(applied('all')).toEqual([true, true]);
    expect(applied('queues')).toEqual([true, false]);
    expect(applied('exchanges')).toEqual([false, true]);
  });

  // Asked of RabbitMQ 3.10.8: one policy for one key on one queue of each type.
  it.each([
    ['message-ttl', 5, true, true],
    ['expires', 5, true, true],
    ['dead-letter-exchange', 'x', true, true],
    ['dead-letter-strategy', 'at-most-once', false, true],
    ['delivery-limit', 5, false, true],
    ['max-in-memory-length', 5, true, true],
    ['overflow', 'drop-head', true, true],
    ['alternate-exchange', 'x', true, true],
    ['queue-mode', 'lazy', true, false],
    ['queue-version', 1, true, true],
    ['queue-leader-locator', 'balanced', false, true],
    ['queue-master-locator', 'min-masters', true, false],
    ['ha-mode', 'all', true, false],
    ['initial-cluster-size', 1, false, false],
  ])('to queue types that know all its keys: %s (rule F8)', (key, value, classic, quorum) => {
    const some = policies();
    some.set('mixed', on('', { ...limit, [key]: value }, { priority: 1 }));
    some.set('next', on('', limit));
    expect(some.matchQueue('q', 'classic')?.name).toBe(classic ? 'mixed' : 'next');
    expect(some.matchQueue('q', 'quorum')?.name).toBe(quorum ? 'mixed' : 'next');
  });

  it('from an operator to queues only (rule F12)', () => {
    const operator = policies('operator');
    operator.set('p', on('', limit));
    expect(operator.matchQueue('q', 'classic')?.name).toBe('p');
    expect(operator.matchExchange('x')).toBeUndefined();
  });
});

describe('setting a policy', () => {
  it('says whether it is new, and lists what there is (rule F13)', () => {
    const some = policies();
    expect(some.set('p', on('a', limit))).toBe('created');
    expect(some.set('p', on('b', new Map([['expires', 5]]), { priority: 2 }))).toBe('changed');
    const expected = { name: 'p', pattern: 'b', applyTo: 'all', priority: 2, definition: new Map([['expires', 5]]) };
    expect(some.list()).toEqual([expected]);
    expect(some.get('p')).toEqual(expected);
  });

  const refusal = (request: PolicyRequest, kind?: 'operator'): string => {
    const some = policies(kind);
    try {
      some.set('p', request);
    } catch (error) {
      expect(error).toBeInstanceOf(PolicyError);
      expect(some.list()).toEqual([]);
      return (error as PolicyError).message;
    }
    return 'accepted';
  };

  // The texts are those RabbitMQ 3.10.8 answered over HTTP, there with < and > escaped.
  it.each<[string, unknown, string]>([
    ['message-ttl', '5', '<<"5">> is not a valid message TTL'],
    ['message-ttl', 1.5, '1.5 is not a valid message TTL'],
    ['message-ttl', null, 'null is not a valid message TTL'],
    ['dead-letter-exchange', true, 'true is not a valid dead letter exchange name'],
    ['dead-letter-strategy', 'x', '<<"x">> is not a valid dead letter strategy'],
    ['max-in-memory-length', -1, '-1 is not a valid maximum memory in bytes'],
    ['overflow', 'x', '<<"x">> is not a valid overflow value'],
    ['queue-mode', 5, '5 is not a valid queue-mode value'],
    ['queue-version', 3, '3 is not a valid queue-version value'],
    ['queue-master-locator', 'x', '<<"x">> invalid queue-master-locator value'],
    ['alternate-exchange', 5, '5 is not a valid alternate exchange name'],
    ['nonsense', [1, 'a'], '[{<<"nonsense">>,[1,<<"a">>]}] are not recognised policy settings'],
    ['nonsense', { a: 1 }, '[{<<"nonsense">>,#{<<"a">> => 1}}] are not recognised policy settings'],
    ['max-priority', 5, '[{<<"max-priority">>,5}] are not recognised policy settings'],
    ['single-active-consumer', true, '[{<<"single-active-consumer">>,true}] are not recognised policy settings'],
    ['constructor', 1, '[{<<"constructor">>,1}] are not recognised policy settings'],
  ])('refuses %s %j (rules F13, F14)', (key, value, text) => {
    expect(refusal(on('', { [key]: value }))).toBe(`Validation failed\n\n${text}\n`);
  });

  it.each<[PolicyRequest, string]>([
    [on('', { b: 1, a: 2 }), '[{<<"a">>,2},{<<"b">>,1}] are not recognised policy settings'],
    [on('', { a: 2, 'message-ttl': -1, 'max-length': -1 }), '-1 is not a valid maximum length'],
    [on('(', limit), 'pattern should be regular expression but is invalid: {"missing )",1}'],
    [
      on('nothing)', limit),
      `pattern should be regular expression but is invalid: {"unmatched parentheses",\n${' '.repeat(54)}7}`,
    ],
    [{ pattern: 5, definition: limit }, 'pattern should be a binary but was 5'],
    [on('', limit, { applyTo: 'nope' }), "apply-to 'nope' unrecognised; should be 'queues', 'exchanges' or 'all'"],
    [on('', limit, { priority: 'x' }), 'priority should be a number, actually was <<"x">>'],
  ])('refuses %j (rule F13)', (request, text) => {
    expect(refusal(request)).toBe(`Validation failed\n\n${text}\n`);
  });

  it('names everything that is wrong, a line each (rule F13)', () => {
    expect(refusal(on('(', { 'max-length': -1 }, { priority: 'x', applyTo: 'nope' }))).toBe(
      'Validation failed\n\n-1 is not a valid maximum length\n' +
        "apply-to 'nope' unrecognised; should be 'queues', 'exchanges' or 'all'\n" +
        'pattern should be regular expression but is invalid: {"missing )",1}\n' +
        'priority should be a number, actually was <<"x">>\n',
    );
  });

  it('misses a pattern and a definition (rule F13)', () => {
    expect(refusal({ pattern: undefined, definition: limit })).toBe('[{key_missing,pattern}]');
    expect(refusal({ pattern: '', definition: undefined })).toBe('[{key_missing,definition}]');
  });

  it('lets an operator set limits only (rule F12)', () => {
    for (const key of ['expires', 'message-ttl', 'max-length', 'max-length-bytes', 'delivery-limit']) {
      expect(refusal(on('', { [key]: 1 }), 'operator')).toBe('accepted');
    }
    expect(refusal(on('', { 'message-ttl': 1, overflow: 'drop-head' }), 'operator')).toBe(
      'Validation failed\n\n[{<<"overflow">>,<<"drop-head">>}] are not recognised policy settings\n',
    );
  });
});
