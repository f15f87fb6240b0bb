import { describe, expect, it } from 'vitest';
import { array, bool, emptyTable, type Field, type FieldTable, int32, longstr } from '../../message/index.js';
import { preconditionFailed } from '../errors.js';
import { carbonCopiesOf, checkDeliveryMode, checkSize, checkUserId, parseExpiration, withoutBcc } from './checks.js';

const tableOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));

describe('an expiration', () => {
  it.each([
    ['0', 0],
    ['+5', 5],
    ['-0', 0],
    ['007', 7],
    ['00000000000007', 7],
    ['315360000000', 315_360_000_000],
  ])('%j is %d ms (rule B2)', (text, milliseconds) => expect(parseExpiration(text)).toBe(milliseconds));

  it.each([
    ['abc', 'no_integer'],
    ['', 'no_integer'],
    [' 10', 'no_integer'],
    ['+', 'no_integer'],
    ['--5', 'no_integer'],
    ['1.5', '{leftover_string,".5"}'],
    ['10 ', '{leftover_string," "}'],
    ['10ms', '{leftover_string,"ms"}'],
    ['0x10', '{leftover_string,"x10"}'],
    ['5"x', '{leftover_string,"\\"x"}'],
    ['5\\', '{leftover_string,"\\\\"}'],
    ['5\n', '{leftover_string,"\\n"}'],
    ['-1', '{value_negative,-1}'],
    ['315360000001', '{value_too_large,315360000001}'],
    ['99999999999999999999', '{value_too_large,99999999999999999999}'],
  ])('%j is refused: %s (rule B3)', (text, reason) => {
    expect(() => parseExpiration(text)).toThrow(preconditionFailed(`invalid expiration '${text}': ${reason}`));
  });
});

describe('carbon copies', () => {
  it('are the texts in the CC and BCC headers (rule G3)', () => {
    expect(carbonCopiesOf(undefined)).toBeUndefined();
    expect(carbonCopiesOf(tableOf({ cc: array([longstr('a')]), CC: array([int32(1)]) }))).toBeUndefined();
    const headers = tableOf({ CC: array([longstr('a'), int32(1), longstr('a')]), BCC: array([longstr('b')]) });
    expect(carbonCopiesOf(headers)).toEqual({ cc: ['a', 'a'], bcc: ['b'] });
  });

  it('must be arrays (rule G3)', () => {
    expect(() => carbonCopiesOf(tableOf({ CC: longstr('a') }))).toThrow(
      'PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"CC",longstr}',
    );
    expect(() => carbonCopiesOf(tableOf({ BCC: { type: 'V', value: undefined }, CC: bool(true) }))).toThrow(
      'invalid message: {unacceptable_type_in_header,"CC",bool}',
    );
  });

  it('are hidden from consumers if blind (rule G3)', () => {
    const headers = tableOf({ BCC: array([]) });
    expect(withoutBcc(headers)).toEqual(emptyTable);
    expect(headers.has('BCC')).toBe(true);
    const open = tableOf({ CC: array([]) });
    expect(withoutBcc(open)).toBe(open);
  });
});

describe('properties', () => {
  it('have a delivery mode of 1, 2 or none (rule K7)', () => {
    for (const mode of [undefined, 1, 2]) expect(() => checkDeliveryMode(mode)).not.toThrow();
    expect(() => checkDeliveryMode(3)).toThrow('PRECONDITION_FAILED - invalid message: {delivery_mode_unknown,3}');
  });

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
