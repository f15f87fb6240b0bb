import { describe, expect, it } from 'vitest';
import { int32, longstr } from '../../../engine/message/index.js';
import { existingField, mismatchIn, shownExisting } from './compare.js';

const start = "PRECONDITION_FAILED - inequivalent arg 'x-a' for queue 'Q' in vhost 'V': ";

describe('the text of a 406 about a declaration', () => {
  it.each([
    [`${start}received '6' but current is '5'`, { property: 'x-a', existing: '5', type: undefined }],
    [`${start}received none but current is the value 'x' of type 'longstr'`, { existing: 'x', type: 'longstr' }],
    [`${start}received the value '1' of type 'signedint' but current is none`, { existing: undefined }],
    [`${start}received 'it's' but current is 'b's'`, { existing: "b's" }],
    [
      "PRECONDITION_FAILED - invalid arg 'x-delivery-limit' for queue 'Q' in vhost 'V' of queue type rabbit_classic_queue",
      { property: 'x-delivery-limit', existing: undefined },
    ],
  ])('%s', (text, mismatch) => expect(mismatchIn(text)).toMatchObject(mismatch));

  it('another one tells of no argument', () => {
    expect(mismatchIn('PRECONDITION_FAILED - unknown delivery tag 7')).toBeUndefined();
  });

  it('has values that are declared again with their type', () => {
    const of = (end: string) => mismatchIn(start + end)!;
    expect(existingField(of("received '6' but current is '5'"), int32(6))).toEqual({ type: 'l', value: 5 });
    expect(existingField(of("received '6' but current is '5'"), longstr('6'))).toEqual(longstr('5'));
    expect(existingField(of("received none but current is the value '5' of type 'longstr'"), undefined)).toEqual(
      longstr('5'),
    );
    expect(existingField(of("received 'true' but current is 'false'"), undefined)).toEqual({ type: 't', value: false });
    expect(shownExisting(of("received 'b' but current is 'a'"), longstr('b'))).toBe("'a'");
    expect(shownExisting(of("received '6' but current is none"), int32(6))).toBe('none');
  });
});
