import { describe, expect, it } from 'vitest';
import { bool, emptyTable, type Field, type FieldTable, int32, longstr } from '../../message/index.js';
import { profiles } from '../profile.js';
import { noSettings } from './arguments.js';
import { effectiveSettings } from './settings.js';

const tableOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));

const policy = (definition: Record<string, unknown>) => new Map(Object.entries(definition));

describe('the settings of a queue', () => {
  it('merge the operator policy as a further limit, also alone, and only for its keys (rule F12)', () => {
    const operator = policy({ 'max-length': 2, 'message-ttl': 100, 'dead-letter-exchange': 'never' });
    const settings = effectiveSettings('classic', emptyTable, policy({ 'max-length': 5, 'message-ttl': 50 }), operator);
    expect(settings).toMatchObject({ maxLength: 2, messageTtl: 50, deadLetterExchange: undefined });
    expect(effectiveSettings('classic', emptyTable, undefined, operator).maxLength).toBe(2);
    const quorum = tableOf({ 'x-delivery-limit': int32(7) });
    expect(effectiveSettings('quorum', quorum, undefined, policy({ 'delivery-limit': 3 })).deliveryLimit).toBe(3);
  });

  it('cannot be set by policy for what only arguments say (rule F14)', () => {
    const definition = policy({ 'max-priority': 5, 'single-active-consumer': true, 'delivery-limit': 3 });
    expect(effectiveSettings('classic', emptyTable, definition)).toEqual(noSettings);
  });

  it('are at-least-once only with a dead-letter exchange and reject-publish (rule M1)', () => {
    const all = {
      'x-dead-letter-strategy': longstr('at-least-once'),
      'x-dead-letter-exchange': longstr('dlx'),
      'x-overflow': longstr('reject-publish'),
    };
    const strategy = (args: Record<string, Field>) => effectiveSettings('quorum', tableOf(args)).deadLetterStrategy;
    expect(strategy(all)).toBe('at-least-once');
    expect(strategy({ ...all, 'x-overflow': longstr('drop-head') })).toBe('at-most-once');
    const { 'x-dead-letter-exchange': _, ...withoutDlx } = all;
    expect(strategy(withoutDlx)).toBe('at-most-once');
  });

  it('rule D2: have no delivery limit when the argument is no number: 3.10 does not check it', () => {
    for (const value of [longstr('5'), bool(true)]) {
      const args = tableOf({ 'x-delivery-limit': value });
      expect(effectiveSettings('quorum', args, undefined, undefined, profiles['3.10']).deliveryLimit).toBeUndefined();
    }
  });
});
