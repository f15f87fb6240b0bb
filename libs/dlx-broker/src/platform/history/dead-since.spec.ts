import { describe, expect, it } from 'vitest';
import { bool, type Field, type FieldTable, int32, int64, longstr, Message } from '../../engine/message/index.js';
import { addEntry, addRedrive, deadSince, diedAt, writeHistory } from './error-entries.js';

const [first, latest] = [1_767_268_800_000, 1_767_268_860_000];
const messageWith = (headers: FieldTable): Message => new Message('', 'work', { headers }, new Uint8Array());

function parked(): Map<string, Field> {
  return new Map<string, Field>([
    ['dlx-parked', bool(true)],
    ['dlx-queue', longstr('work')],
    ['dlx-attempt', int32(2)],
    ['dlx-failing-since', int64(first)],
  ]);
}

describe('a parked message', () => {
  it('is dead since its first failure, and died last with its latest one', () => {
    const headers = parked();
    let history = { errors: [], omitted: 0 } as Parameters<typeof addEntry>[0];
    for (const [attempt, at] of [first, latest].entries())
      history = addEntry(history, { attempt: attempt + 1, at: new Date(at), name: 'Error', message: '' }, 10);
    writeHistory(headers, addRedrive(history, 1, latest + 60_000));
    expect(deadSince(messageWith(headers))).toBe(first);
    expect(diedAt(messageWith(headers))).toBe(latest);
  });

  it('has the time of its first failure where no history tells the others', () => {
    expect(diedAt(messageWith(parked()))).toBe(first);
    expect(diedAt(messageWith(new Map()))).toBeUndefined();
  });
});
