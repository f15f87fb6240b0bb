import { describe, expect, it } from 'vitest';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import { ContractError } from './contract-error.js';
import { event, request } from './contract.js';
import type { SchemaIssue, StandardSchema } from './standard-schema.js';

const schemaOf = (validate: StandardSchema['~standard']['validate']): StandardSchema => ({
  '~standard': { version: 1, vendor: 'test', validate },
});
const valid = schemaOf((value) => ({ value }));

describe('a contract refuses', () => {
  const rows: readonly [string, () => unknown, string][] = [
    ['one word as a wildcard', () => event('order.*'), "event('order.*') has wildcards"],
    ['any words as a wildcard', () => request('#'), "request('#') has wildcards"],
    ['an empty pattern', () => event(''), "event(''): a routing key has 1 to 255 bytes"],
    ['a pattern that AMQP cannot carry', () => event('é'.repeat(128)), 'a routing key has 1 to 255 bytes'],
    ['an object as the pattern', () => event({ cmd: 'a' } as never), 'event(): {"cmd":"a"} is no text'],
    ['a misspelt option', () => event('a', { shema: valid } as never), "did you mean 'schema'?"],
    ['an answer to an event', () => event('a', { answer: valid } as never), "'answer' is no option"],
    ['no options', () => event('a', 5 as never), "options of event('a')"],
    ['what is no schema', () => event('a', { schema: {} as never }), "schema of event('a'): 'object' is no Standard"],
    [
      'null as a schema',
      () => request('a', { answer: null as never }),
      "answer of request('a'): 'object' is no Standard",
    ],
    [
      'a schema that cannot validate',
      () => event('a', { schema: { '~standard': { version: 1 } } as never }),
      "schema of event('a'): 'object' is no Standard Schema: it has no method validate()",
    ],
    [
      'a later version of Standard Schema',
      () => event('a', { schema: { '~standard': { ...valid['~standard'], version: 2 } } as never }),
      "schema of event('a'): 2 is an unknown version",
    ],
    ['no time at all', () => event('a', { schema: valid, timeout: 0 }), "timeout of event('a'): 0 is no time at all"],
    ['a timeout that is no duration', () => event('a', { timeout: 'soon' }), "timeout of event('a')"],
  ];

  it.each(rows)('%s', (_, make, text) => {
    expect(make).toThrow(DlxConfigurationError);
    expect(make).toThrow(text);
  });
});

it('a pattern may have the characters of wildcards inside of a word', () => {
  expect(event('order.*x').pattern).toBe('order.*x');
});

it('a schema may be a function, as those of arktype are', () => {
  const schema = Object.assign(() => undefined, valid);
  expect(() => event('a', { schema })).not.toThrow();
});

describe('read', () => {
  it('gives what the schema made, also if it answers later', async () => {
    expect(await event('a', { schema: schemaOf((value) => ({ value: [value] })) }).read(1)).toEqual([1]);
    expect(await event('a', { schema: schemaOf(async (value) => ({ value: [value] })) }).read(1)).toEqual([1]);
    expect(await event('a').read(1)).toBe(1);
  });

  it('rejects with the issues', async () => {
    const contract = event('a', { schema: schemaOf(() => ({ issues: [{ message: 'is no a' }] })) });
    await expect(contract.read(1)).rejects.toEqual(
      new ContractError("the payload of 'a'", 'a', [{ message: 'is no a' }]),
    );
  });
});

describe('an error', () => {
  const textOf = (...issues: readonly unknown[]): string => new ContractError('it', 'a', issues).message;

  it('names the way to each fault, whatever its parts are', () => {
    const issues: readonly SchemaIssue[] = [
      { message: 'is no number', path: ['lines', 0, { key: 'price' }] },
      { message: 'is missing', path: [Symbol('s')] },
      { message: 'is empty', path: [] },
    ];
    expect(textOf(...issues)).toBe(
      'it breaks its contract: lines.0.price: is no number; Symbol(s): is missing; is empty',
    );
  });

  it('is one line of bounded length, and says how many issues it leaves out', () => {
    const issues = Array.from({ length: 5_000 }, (_, at) => ({
      message: `a\nb\u001b[2J${'x'.repeat(1_000)}`,
      path: Array.from({ length: 1_000 }, () => at),
    }));
    const error = new ContractError('it', 'a', issues);
    expect(error.message).toMatch(/a\\x0ab\\x1b\[2Jx+….*; and 4998 more$/);
    // eslint-disable-next-line no-control-regex
    expect(error.message).not.toMatch(/[\n\u001b]/);
    expect(error.message.length).toBeLessThan(1_000);
    expect(error.issues).toHaveLength(20);
  });

  it('survives issues that are none', () => {
    expect(textOf(null, 5, { message: 5 }, { message: '', path: 'a' })).toBe(
      'it breaks its contract: is not valid; is not valid; is not valid; is not valid',
    );
    expect(textOf()).toBe('it breaks its contract: its schema names no issue');
  });
});
