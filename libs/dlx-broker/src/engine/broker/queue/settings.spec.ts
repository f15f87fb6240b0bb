import { describe, expect, it } from 'vitest';
import { bool, emptyTable, type Field, type FieldTable, int32, int64, longstr } from '../../message/index.js';
import { noSettings } from './arguments.js';
import { effectiveSettings } from './settings.js';

const tableOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));
const policy = (definition: Record<string, unknown>) => new Map(Object.entries(definition));

describe('the settings of a queue', () => {
  it('are those of its arguments (rule F1)', () => {
    const args = tableOf({
      'x-message-ttl': int64(5n),
      'x-dead-letter-exchange': longstr(''),
      'x-dead-letter-routing-key': longstr(''),
      'x-max-priority': int32(9),
      'x-single-active-consumer': bool(true),
      'x-overflow': longstr('reject-publish-dlx'),
      'x-nobody': int32(1),
    });
    expect(effectiveSettings('classic', args)).toEqual({
      ...noSettings,
      messageTtl: 5,
      deadLetterExchange: '',
      deadLetterRoutingKey: '',
      maxPriority: 9,
      singleActiveConsumer: true,
      overflow: 'reject-publish-dlx',
    });
    expect(effectiveSettings('classic', emptyTable)).toEqual(noSettings);
  });

  it('let the argument beat the policy, key by key (rule F3)', () => {
    const args = tableOf({ 'x-dead-letter-exchange': longstr('mine'), 'x-overflow': longstr('drop-head') });
    const settings = effectiveSettings(
      'classic',
      args,
      policy({ 'dead-letter-exchange': 'theirs', 'dead-letter-routing-key': 'key', overflow: 'reject-publish' }),
    );
    expect(settings).toMatchObject({ deadLetterExchange: 'mine', deadLetterRoutingKey: 'key', overflow: 'drop-head' });
  });

  it('take the smaller number (rule F4)', () => {
    const args = tableOf({ 'x-message-ttl': int32(10), 'x-max-length': int32(3), 'x-expires': int32(9) });
    const definition = policy({ 'message-ttl': 5, 'max-length': 7, 'max-length-bytes': 0, expires: 20 });
    expect(effectiveSettings('classic', args, definition)).toMatchObject({
      messageTtl: 5,
      maxLength: 3,
      maxLengthBytes: 0,
      expires: 9,
    });
    expect(effectiveSettings('quorum', args, definition).expires).toBe(20);
  });

  it('take overflow of a quorum queue from the policy first, and know no reject-publish-dlx there (rules D11, D7)', () => {
    const args = tableOf({ 'x-overflow': longstr('drop-head') });
    expect(effectiveSettings('quorum', args, policy({ overflow: 'reject-publish' })).overflow).toBe('reject-publish');
    const dlx = tableOf({ 'x-overflow': longstr('reject-publish-dlx') });
    expect(effectiveSettings('quorum', dlx).overflow).toBe('drop-head');
  });

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
      expect(effectiveSettings('quorum', tableOf({ 'x-delivery-limit': value })).deliveryLimit).toBeUndefined();
    }
  });

  it('rule D2: have the limit 0 when the argument is negative, whatever the policy says', () => {
    const args = tableOf({ 'x-delivery-limit': int32(-1) });
    expect(effectiveSettings('quorum', args).deliveryLimit).toBe(0);
    expect(effectiveSettings('quorum', args, new Map([['delivery-limit', 5]])).deliveryLimit).toBe(0);
  });
});
