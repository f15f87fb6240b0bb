import { describe, expect, it } from 'vitest';
import { OwnTimers } from '../../../platform/index.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { check, type Term } from './check.js';
import { ContractError } from './contract-error.js';

const fails = (): never => {
  throw new TypeError('broken');
};
const termOf = (validate: () => unknown): Term => ({
  schema: { '~standard': { version: 1, vendor: 'test', validate: validate as never } },
  what: "the payload of 'a'",
  pattern: 'a',
  timeout: 10_000,
});

const within = (clock: ManualClock, failsAtClose = false) => ({ timers: new OwnTimers(clock), failsAtClose });

describe('a schema that', () => {
  const rows: readonly [string, () => unknown, string][] = [
    ['throws', fails, 'failed: TypeError: broken'],
    ['rejects', () => Promise.reject(new TypeError('broken')), 'failed: TypeError: broken'],
    ['throws what is no error', () => Promise.reject('down' as never), 'failed: string: down'],
    ['answers nothing', () => undefined, 'failed: TypeError'],
    ['answers nothing later', async () => undefined, 'failed: TypeError'],
    ['answers neither a value nor issues', () => ({}), 'answered neither a value nor issues'],
    ['answers issues that are no list', () => ({ issues: 'bad' }), 'answered issues that are no list'],
    [
      'answers what cannot be read',
      () => ({
        get issues(): unknown {
          return fails();
        },
      }),
      'failed: TypeError: broken',
    ],
    [
      'has a then that throws',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- that is what is tested
        get then(): unknown {
          return fails();
        },
      }),
      'failed: TypeError: broken',
    ],
  ];

  it.each(rows)('%s is a failure, and says nothing about the payload', async (_, validate, text) => {
    const { failure } = await check(termOf(validate), 1, within(new ManualClock()));
    expect(failure).not.toBeInstanceOf(ContractError);
    expect(failure?.message).toContain(`the schema for the payload of 'a' ${text}`);
  });

  it('hangs is a failure after its time', async () => {
    const clock = new ManualClock();
    const verdict = check(
      termOf(() => new Promise(() => undefined)),
      1,
      within(clock),
    );
    clock.advance(9_999);
    expect(await Promise.race([verdict, Promise.resolve('open')])).toBe('open');
    clock.advance(1);
    expect((await verdict).failure?.message).toBe("the schema for the payload of 'a' did not answer within 10000 ms");
  });

  it('answers in time leaves no timer', async () => {
    const clock = new ManualClock();
    expect(
      await check(
        termOf(async () => ({ value: 2 })),
        1,
        within(clock),
      ),
    ).toEqual({ value: 2 });
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('answers at once needs no promise', () => {
    expect(
      check(
        termOf(() => ({ value: undefined })),
        1,
        within(new ManualClock()),
      ),
    ).toEqual({ value: undefined });
    const refusing = termOf(() => ({ issues: [{ message: 'is no a' }] }));
    expect(check(refusing, 1, within(new ManualClock()))).toEqual({
      failure: new ContractError("the payload of 'a'", 'a', [{ message: 'is no a' }]),
    });
  });
});
