import type { SettingValue } from '../../api/types';
import { bytes, count, duration } from '../../ui/format';

/** Settings in milliseconds, and settings in bytes. */
const times: ReadonlySet<string> = new Set(['message-ttl', 'expires']);
const sizes: ReadonlySet<string> = new Set(['max-length-bytes']);

/** A value of a setting as text; `more` has the same in a larger unit. */
export function settingText(key: string, value: unknown): { readonly text: string; readonly more?: string } {
  if (value === null || value === undefined) return { text: 'none' };
  if (value === '') return { text: key.endsWith('exchange') ? '(default exchange)' : '(empty)' };
  if (typeof value === 'string') return { text: value };
  if (typeof value !== 'number') return { text: typeof value === 'object' ? JSON.stringify(value) : String(value) };
  if (times.has(key)) return { text: `${count(value)} ms`, ...(value >= 1_000 && { more: duration(value) }) };
  if (sizes.has(key)) return { text: `${count(value)} B`, ...(value >= 1_000 && { more: bytes(value) }) };
  return { text: count(value) };
}

/** Where a value comes from: `policy retry`. */
export const sourceText = ({ source, name }: SettingValue): string => (name === null ? source : `${source} ${name}`);
