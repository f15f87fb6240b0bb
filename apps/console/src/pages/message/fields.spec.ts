import { describe, expect, it } from 'vitest';
import { fieldOfText, fieldTypes, isOfBroker, textOfField } from './fields';

describe('a header in the editor', () => {
  it.each([
    { type: 'longstr', value: ' a "b" ' },
    { type: 'bool', value: false },
    { type: 'signedint', value: -7 },
    { type: 'long', value: '9223372036854775807' },
    { type: 'long', value: 12_345_678_901 },
    { type: 'timestamp', value: 1_700_000_000 },
    { type: 'double', value: 1.5e-7 },
    { type: 'double', value: 'NaN' },
    { type: 'float', value: '-Infinity' },
    { type: 'binary', value: 'AAEC' },
    { type: 'decimal', value: { scale: 2, value: 199 } },
    { type: 'array', value: [{ type: 'longstr', value: 'a' }] },
    { type: 'table', value: { name: { type: 'void', value: null } } },
    { type: 'void', value: null },
  ])('comes back as it was: $type $value', (field) => {
    expect(fieldOfText({ type: field.type, text: textOfField(field) })).toEqual(field);
    expect(fieldTypes).toContain(field.type);
  });

  it.each([
    ['byte', '128', 'a whole number from -128 to 127'],
    ['unsignedint', '-1', 'a whole number from 0 to 4294967295'],
    ['long', '9223372036854775808', 'a whole number from -9223372036854775808 to 9223372036854775807'],
    ['signedint', '1.5', 'a whole number'],
    ['bool', 'yes', 'true or false'],
    ['double', '', 'a number'],
    ['binary', 'a', 'base64'],
    ['table', '[]', 'JSON such as {"name"'],
    ['array', '{', 'JSON such as [{"type"'],
  ])('is refused with what is wanted: %s %j', (type, text, wanted) => {
    expect(() => fieldOfText({ type, text })).toThrow(wanted);
  });

  it('is of the broker by its name', () => {
    expect(['x-death', 'x-first-death-queue', 'dlx-error-class', 'CC'].every(isOfBroker)).toBe(true);
    expect(['x-trace', 'tenant', 'X-DEATH', 'x-death-2'].some(isOfBroker)).toBe(false);
  });
});
