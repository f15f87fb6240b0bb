import { describe, expect, it } from 'vitest';
import { array, type Field, type FieldTable, int32, longstr } from '../../message/index.js';
import { carbonCopiesOf, checkSize, checkUserId } from './checks.js';

const tableOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));

it('carbon copies are the texts in the CC and BCC headers (rule G3)', () => {
  expect(carbonCopiesOf(undefined)).toBeUndefined();
  expect(carbonCopiesOf(tableOf({ cc: array([longstr('a')]), CC: array([int32(1)]) }))).toBeUndefined();
  const headers = tableOf({ CC: array([longstr('a'), int32(1), longstr('a')]), BCC: array([longstr('b')]) });
  expect(carbonCopiesOf(headers)).toEqual({ cc: ['a', 'a'], bcc: ['b'] });
});

describe('properties', () => {
  it('name the user who publishes, or no user (rule K7)', () => {
    const guest = { name: 'guest', tags: [] };
    expect(() => checkUserId({}, guest)).not.toThrow();
    expect(() => checkUserId({ userId: 'guest' }, guest)).not.toThrow();
    expect(() => checkUserId({ userId: 'x' }, undefined)).not.toThrow();
    expect(() => checkUserId({ userId: 'x' }, { name: 'guest', tags: ['impersonator'] })).not.toThrow();
    expect(() => checkUserId({ userId: 'somebody' }, guest)).toThrow(
      "PRECONDITION_FAILED - user_id property set to 'somebody' but authenticated user was 'guest'",
    );
  });

  it('come with a body of limited size (rule K7)', () => {
    expect(() => checkSize(10, 10)).not.toThrow();
    expect(() => checkSize(11, 10)).toThrow('message size 11 is larger than configured max size 10');
  });
});
