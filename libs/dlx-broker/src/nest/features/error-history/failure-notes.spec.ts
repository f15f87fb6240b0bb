import { describe, expect, it } from 'vitest';
import { Message } from '../../../engine/message/index.js';
import { ManualClock } from '../../../testing.js';
import { EventLog } from '../../log/event-log.js';
import type { Failed } from '../../core/handler.js';
import { FailureNotes } from './failure-notes.js';

const notesOf = (errorHeaders: { stack: number; message: number } | undefined, errorHistory: number) =>
  new FailureNotes({ errorHeaders, errorHistory, fingerprint: undefined }, new ManualClock(), new EventLog('test'));

const failedWith = (error: unknown): Failed =>
  ({
    error,
    isUnhandled: true,
    delivery: { message: new Message('', 'work', {}, new Uint8Array()), queue: 'work' },
  }) as Failed;

const failure = (text: string): Error => Object.assign(new Error(text), { stack: `Error: ${text}\n    at Orders.pay` });

describe('the headers of failures', () => {
  it('share the text of a stack, so that messages with the same failure keep it once', () => {
    const notes = notesOf({ stack: 2_048, message: 1_024 }, 10);
    const stackOf = (error: unknown) => notes.headers(failedWith(error)).get('dlx-error-stack');
    const [first, second, other] = [failure('away'), failure('away'), failure('gone')].map(stackOf);
    expect(second).toBe(first);
    expect(other?.value).toBe('Error: gone\n    at Orders.pay');
    expect(notes.ofError(failure('gone')).get('dlx-error-stack')).toBe(other);
  });

  it('are tables of their own, also without the headers of the error', () => {
    for (const limits of [{ stack: 0, message: 9 }, undefined]) {
      const notes = notesOf(limits, 10);
      const [one, two] = [notes.headers(failedWith(failure('a'))), notes.headers(failedWith(failure('b')))];
      expect(one.get('dlx-errors')).not.toEqual(two.get('dlx-errors'));
      expect(one.has('dlx-error-stack')).toBe(false);
      expect(notes.ofError(failure('a')).has('dlx-errors')).toBe(false);
    }
  });
});
