import {
  longstr,
  int32,
  int64,
  bool,
  type Field,
  type FieldTable,
  type Properties,
} from '../../libs/dlx-broker/src/engine/message/index.js';
import { isUnits, type Sent, type Value, type Values } from './program.js';

/** Values of a program as a broker takes them. @param unit milliseconds of one */
export const plainValues = (values: Values, unit: number): Record<string, string | number> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, plain(value, unit) as string | number]));

export const tableOf = (unit: number, values: Values): FieldTable =>
  new Map(Object.entries(values).map(([name, value]) => [name, fieldOf(plain(value, unit))]));

export const propertiesOf = ({ expiration, headers, ...others }: Sent, unit: number): Properties => ({
  ...others,
  ...(expiration === undefined ? {} : { expiration: String(expiration.units * unit) }),
  ...(headers === undefined ? {} : { headers: new Map(Object.entries(headers)) }),
});

const plain = (value: Value, unit: number): string | number | boolean => (isUnits(value) ? value.units * unit : value);

function fieldOf(value: string | number | boolean): Field {
  if (typeof value === 'string') return longstr(value);
  if (typeof value === 'boolean') return bool(value);
  return value < 2 ** 31 ? int32(value) : int64(value);
}
