import type { TypedField } from '../../api/types';

/** A field as it was typed: its type, and its value as text. */
export interface TypedText {
  readonly type: string;
  readonly text: string;
}

const integers: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  byte: [-128n, 127n],
  unsignedbyte: [0n, 255n],
  short: [-32_768n, 32_767n],
  unsignedshort: [0n, 65_535n],
  signedint: [-2_147_483_648n, 2_147_483_647n],
  unsignedint: [0n, 4_294_967_295n],
  long: [-9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n],
  timestamp: [0n, 9_223_372_036_854_775_807n],
};

/** The types of AMQP in the order in which the editor offers them. */
export const fieldTypes: readonly string[] = [
  'longstr',
  'bool',
  'signedint',
  'long',
  'double',
  'timestamp',
  'byte',
  'unsignedbyte',
  'short',
  'unsignedshort',
  'unsignedint',
  'float',
  'decimal',
  'binary',
  'array',
  'table',
  'void',
];

/** The text of a field in the editor. Tables, arrays and decimals are JSON, with the types of their fields. */
export function textOfField({ type, value }: TypedField): string {
  if (type === 'void' || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Reads a field. @throws Error with the reason */
export function fieldOfText({ type, text }: TypedText): TypedField {
  const range = integers[type];
  if (range !== undefined) return { type, value: integerOf(text, range) };
  switch (type) {
    case 'longstr':
      return { type, value: text };
    case 'bool':
      if (text !== 'true' && text !== 'false') throw new Error('true or false');
      return { type, value: text === 'true' };
    case 'void':
      return { type, value: null };
    case 'float':
    case 'double':
      return { type, value: realOf(text) };
    case 'binary':
      if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new Error('base64');
      return { type, value: text };
    default:
      return { type, value: jsonOf(text, type) };
  }
}

function integerOf(text: string, [least, most]: readonly [bigint, bigint]): number | string {
  const trimmed = text.trim();
  const value = /^-?\d{1,20}$/.test(trimmed) ? BigInt(trimmed) : undefined;
  if (value === undefined || value < least || value > most) throw new Error(`a whole number from ${least} to ${most}`);
  // Numbers that JSON cannot hold are texts, as in the answers of the API.
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function realOf(text: string): number | string {
  const trimmed = text.trim();
  if (/^(?:NaN|-?Infinity)$/.test(trimmed)) return trimmed;
  const value = trimmed === '' ? Number.NaN : Number(trimmed);
  if (!Number.isFinite(value)) throw new Error('a number');
  return value;
}

const shapes: Readonly<Record<string, string>> = {
  decimal: 'such as {"scale":2,"value":199}',
  array: 'such as [{"type":"longstr","value":"a"}]',
  table: 'such as {"name":{"type":"longstr","value":"a"}}',
};

function jsonOf(text: string, type: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The error below says what is wanted.
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== (type === 'array')) {
    throw new Error(`JSON ${shapes[type] ?? ''}`);
  }
  return value;
}

/** True for headers that no edit may set, change or remove. */
export const isLocked = (name: string): boolean => /^(?:x-|dlx-)/.test(name) || name === 'CC' || name === 'BCC';

/** True for headers that the broker and its retries write. A redrive takes them out. */
export const isOfBroker = (name: string): boolean =>
  /^(?:x-death|x-first-death-(?:queue|reason|exchange)|x-last-death-(?:queue|reason|exchange)|dlx-.*|CC|BCC)$/.test(
    name,
  );
