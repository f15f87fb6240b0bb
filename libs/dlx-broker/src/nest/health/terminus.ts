import type { DlxHealth } from './answer.js';

/** The result of a health indicator, as `@nestjs/terminus` takes it in each of its versions. */
export type HealthResult<Key extends string> = Record<
  Key,
  { readonly status: 'up' | 'down' } & Readonly<Record<string, unknown>>
>;

export function readiness<Key extends string>(key: Key, health: DlxHealth): HealthResult<Key> {
  const { isAlive: _, isReady, problems, ...facts } = health;
  return result(key, isReady, problems, facts);
}

export function liveness<Key extends string>(key: Key, { isAlive, problems, broker }: DlxHealth): HealthResult<Key> {
  const fatal = problems.filter(({ name }) => name === 'storage-failed');
  return result(key, isAlive, fatal, { broker });
}

function result<Key extends string>(
  key: Key,
  isUp: boolean,
  problems: DlxHealth['problems'],
  facts: object,
): HealthResult<Key> {
  const reasons = problems.length === 0 ? {} : { problems };
  return { [key]: { status: isUp ? 'up' : 'down', ...reasons, ...facts } } as unknown as HealthResult<Key>;
}
