import { isIP } from 'node:net';
import { minConsumerTimeout, minDeadLetterRetryAfter, type ProfileName } from '../engine/broker/index.js';
import { bytesIn, meantOf, parseDuration } from '../platform/options/index.js';
import type { Durability } from '../store/index.js';
import { Refusal } from './refusal.js';

/** The levels of the log on standard error. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

const durabilities: readonly Durability[] = ['fsync', 'os', 'none'];
const profileNames: readonly ProfileName[] = ['3.10', '4'];

/** @param where the option or key it was given as, for the error @throws Refusal */
export function parseHostAndPort(text: string, where: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && isIP(host) !== 6)) {
    throw new Refusal(`${where} must be HOST:PORT, such as 127.0.0.1:5672 or [::1]:5672, but is '${text}'`);
  }
  return { host, port };
}

/** @throws Refusal */
export const parseLogLevel = (text: string, where: string): LogLevel => oneOf(logLevels, text, where);

/** @throws Refusal */
export const parseProfile = (text: string, where: string): ProfileName => oneOf(profileNames, text, where);

/** @throws Refusal */
export const parseDurability = (text: string, where: string): Durability => oneOf(durabilities, text, where);

/** A number of bytes, or one with a unit: `500MB` are 500,000,000, `64MiB` 67,108,864. @throws Refusal */
export function parseBytes(given: string | number, where: string): number {
  const bytes = bytesIn(String(given));
  if (!Number.isNaN(bytes)) return bytes;
  throw new Refusal(`${where} must be a number of bytes such as 64MiB or 500MB, but is '${given}'`);
}

/** A share of memory up to 1, or bytes above it. @throws Refusal */
export function parseMemoryLimit(given: string | number, where: string): number {
  const text = String(given);
  const limit = /^(0?\.[0-9]+|1(\.0*)?)$/.test(text) ? Number(text) : bytesIn(text);
  if (limit > 0) return limit;
  throw new Refusal(`${where} must be a share of memory such as 0.4, or bytes such as 600MB, but is '${given}'`);
}

/** Milliseconds, or a string such as `5s`. @returns milliseconds @throws Refusal */
export function parseRetryAfter(given: string | number, where: string): number {
  const text = String(given);
  const milliseconds = /^[0-9]+$/.test(text) ? Number(text) : durationIn(text, where, 'a time such as 5s');
  if (milliseconds >= minDeadLetterRetryAfter) return milliseconds;
  throw new Refusal(`${where} must be ${minDeadLetterRetryAfter} ms or more, but is '${given}'`);
}

/** Milliseconds, a string such as `30m`, or `none`. @returns milliseconds; Infinity for `none` @throws Refusal */
export function parseConsumerTimeout(given: string | number, where: string): number {
  if (given === 'none') return Infinity;
  const text = String(given);
  const milliseconds = /^[0-9]+$/.test(text) ? Number(text) : durationIn(text, where, 'a time such as 30m, or none');
  if (milliseconds >= minConsumerTimeout) return milliseconds;
  const unit =
    text === String(milliseconds) ? `; a number without a unit is in milliseconds: write ${text}s or ${text}m` : '';
  throw new Refusal(`${where} must be ${minConsumerTimeout} ms or more, or none, but is '${given}'${unit}`);
}

function durationIn(text: string, where: string, accepted: string): number {
  try {
    return parseDuration(text, where);
  } catch {
    throw new Refusal(`${where} must be milliseconds, ${accepted}, but is '${text}'`);
  }
}

function oneOf<T extends string>(known: readonly T[], text: string, where: string): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new Refusal(`${where} must be one of ${known.join(', ')}, but is '${text}'${meantOf(text, known)}`);
}
