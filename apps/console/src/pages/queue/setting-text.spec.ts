import { describe, expect, it } from 'vitest';
import { settingText, sourceText } from './setting-text';

describe('values of settings', () => {
  it.each([
    ['message-ttl', 30_000, { text: '30,000 ms', more: '30 s' }],
    ['message-ttl', 0, { text: '0 ms' }],
    ['max-length-bytes', 2_500_000, { text: '2,500,000 B', more: '2.5 MB' }],
    ['max-length', 10_000, { text: '10,000' }],
    ['dead-letter-exchange', '', { text: '(default exchange)' }],
    ['dead-letter-routing-key', '', { text: '(empty)' }],
    ['single-active-consumer', true, { text: 'true' }],
    ['delivery-limit', null, { text: 'none' }],
    ['future', { deep: [1] }, { text: '{"deep":[1]}' }],
  ])('shows %s %o', (key, value, expected) => expect(settingText(key, value)).toEqual(expected));

  it('names the source', () => {
    expect(sourceText({ value: 1, source: 'operator policy', name: 'caps' })).toBe('operator policy caps');
    expect(sourceText({ value: 1, source: 'argument', name: null })).toBe('argument');
  });
});
