import { describe, expect, it } from 'vitest';
import { DlxConfigurationError } from './refused.js';
import { parseDuration, shownDuration } from './units.js';

describe('a duration', () => {
  it.each([
    ['200ms', 200],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['5 minutes', 300_000],
    ['1h', 3_600_000],
    ['.5s', 500],
    ['20 MSECS', 20],
    ['3secs', 3_000],
    ['2 mins', 120_000],
    ['2hrs', 7_200_000],
    ['1 day', 86_400_000],
    ['2w', 1_209_600_000],
    ['1yr', 31_557_600_000],
    [0, 0],
    [1_000, 1_000],
    [315_360_000_000, 315_360_000_000],
  ])('%j is %d ms (rule B1)', (written, milliseconds) => {
    expect(parseDuration(written, 'here')).toBe(milliseconds);
  });

  it.each([
    '',
    '250',
    ' 2.5 ',
    '-1',
    'soon',
    '5 parsecs',
    '5.s',
    's',
    '1s 2s',
    `${'1'.repeat(99)}ms`,
    '-1s',
    '0.5ms',
    -1,
    0.5,
    Number.NaN,
    Infinity,
    315_360_000_001,
    '11y',
    'x'.repeat(500),
    null as never,
    undefined as never,
  ])('%j is refused by a string that names where it stands (rule B1)', (written) => {
    const attempt = () => parseDuration(written, '@Ttl on OrdersController.created');
    expect(attempt).toThrow(DlxConfigurationError);
    expect(attempt).toThrow(/^@Ttl on OrdersController\.created: /);
    expect(attempt).toThrow(typeof written === 'string' ? `'${written}'` : String(written));
  });
});

it.each([
  [-5, '0ms'],
  [0, '0ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [61_000, '1m 1s'],
  [3_600_000, '1h'],
  [3_605_000, '1h'],
  [7_500_000, '2h 5m'],
  [90_000_000, '1d 1h'],
])('shows %i ms as %s', (milliseconds, text) => {
  expect(shownDuration(milliseconds)).toBe(text);
});
