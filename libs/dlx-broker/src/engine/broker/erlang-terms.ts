import { type Field, fieldTypeNames, maxNesting } from '../message/index.js';

/** A field's value as in RabbitMQ's error texts: text as it is, other types as an Erlang term. */
export const fieldText = (field: Field): string => (field.type === 'S' ? field.value : erlangTerm(field));

/** A field's value as an Erlang term: `1000`, `1.0e3`, `true`, `<<"text">>`, `[{byte,1}]`. */
export function erlangTerm(field: Field): string {
  switch (field.type) {
    case 'f':
    case 'd':
      return erlangFloat(field.value);
    case 'S':
      return erlangBinary(field.value);
    case 'x':
      return erlangBinary(latin1(field.value));
    case 'A':
      return `[${field.value.map((each) => `{${fieldTypeNames[each.type]},${erlangTerm(each)}}`).join(',')}]`;
    case 'F': {
      const entries = [...field.value].map(
        ([name, each]) => `{${erlangBinary(name)},${fieldTypeNames[each.type]},${erlangTerm(each)}}`,
      );
      return `[${entries.join(',')}]`;
    }
    case 'D':
      return `{${field.value.scale},${field.value.value}}`;
    default:
      return String(field.value); // void reads "undefined" in Erlang too
  }
}

/** A JSON value as an Erlang term: `5`, `<<"text">>`, `[1,2]`, `#{<<"a">> => 1}`. Values that are nested too deep become `...`. */
export const erlangJson = (value: unknown): string => jsonTerm(value, 1);

function jsonTerm(value: unknown, depth: number): string {
  if (depth > maxNesting) return '...';
  if (typeof value === 'string') return erlangBinary(value);
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : erlangFloat(value);
  if (Array.isArray(value)) return `[${value.map((each) => jsonTerm(each, depth + 1)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `#{${Object.entries(value)
    .map(([name, each]) => `${erlangBinary(name)} => ${jsonTerm(each, depth + 1)}`)
    .join(',')}}`;
}

const erlangBinary = (text: string): string => (text === '' ? '<<>>' : `<<${erlangString(text)}>>`);

export const erlangString = (text: string): string => `"${text.replace(/["\\\n\r\t]/g, (char) => escapes[char]!)}"`;

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Bytes as text, one character each. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** A float as Erlang writes it: in the shorter of both notations, always with a fraction. */
function erlangFloat(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const scientific = `${digits.includes('.') ? digits : `${digits}.0`}e${exponent.replace('+', '')}`;
  const plain = String(value);
  if (plain.includes('e')) return scientific;
  const decimal = plain.includes('.') ? plain : `${plain}.0`;
  return scientific.length < decimal.length ? scientific : decimal;
}
