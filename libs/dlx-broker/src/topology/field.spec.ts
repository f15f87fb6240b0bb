import { describe, expect, it } from 'vitest';
import { DlxConfigurationError } from './configuration-error.js';
import { fieldOf, fieldTableOf, plainTableOf, sameField } from './field.js';

describe('a value becomes a field', () => {
  it.each([
    ['text', 'S'],
    [true, 't'],
    [1, 'I'],
    [-5_000_000_000, 'l'],
    [1.5, 'd'],
    [12n, 'l'],
    [new Date(5_000), 'T'],
    [new Uint8Array([1]), 'x'],
    [[1], 'A'],
    [{ a: 1 }, 'F'],
    [null, 'V'],
  ])('%s as %s', (value, type) => expect(fieldOf(value, 'here').type).toBe(type));

  it('or is refused, naming who wrote it', () => {
    expect(() => fieldOf(() => 1, '@Bind on A.b')).toThrow(DlxConfigurationError);
    expect(() => fieldOf(new (class Money {})(), '@Bind on A.b')).toThrow(/@Bind on A.b: a Money/);
  });

  it('and back, in objects without a prototype', () => {
    const plain = plainTableOf(fieldTableOf(JSON.parse('{"__proto__": {"a": [1, "x"]}, "b": true}'), 'here'));
    expect(Object.getPrototypeOf(plain)).toBeNull();
    expect(Object.keys(plain)).toEqual(['__proto__', 'b']);
    expect((plain as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('and equals another of the same value whatever its width', () => {
    expect(sameField({ type: 'I', value: 5 }, { type: 'l', value: 5 })).toBe(true);
    expect(sameField({ type: 'I', value: 5 }, { type: 'S', value: '5' })).toBe(false);
    expect(sameField(undefined, { type: 'V', value: undefined })).toBe(false);
  });
});
