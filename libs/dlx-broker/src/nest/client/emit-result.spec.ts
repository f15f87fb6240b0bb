import { AsyncLocalStorage } from 'node:async_hooks';
import { finalize, firstValueFrom, lastValueFrom, map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EmitResult } from './emit-result.js';
import { EventFailures } from './event-failures.js';

const failure = new Error('refused');

/** A result, and the failures that no subscriber got. */
function pending(): { readonly result: EmitResult<undefined>; readonly unseen: string[] } {
  const unseen: string[] = [];
  const log = { write: (_: string, text: string) => void unseen.push(text) };
  const keyOf = (pattern: unknown): string => (pattern as { toString(): string }).toString();
  const failures = new EventFailures(log as never, keyOf);
  return { result: new EmitResult(failures, 'orders.created'), unseen };
}

const noting = (seen: string[], name: string) => ({
  next: (value: unknown) => void seen.push(`${name} next ${String(value)}`),
  error: (error: Error) => void seen.push(`${name} error ${error.message}`),
  complete: () => void seen.push(`${name} complete`),
});

describe('the result of an emit', () => {
  it('completes for subscribers of before and after', () => {
    const { result } = pending();
    const seen: string[] = [];
    result.subscribe(noting(seen, 'a'));
    result.subscribe(noting(seen, 'b'));
    expect(seen).toEqual([]);
    result.end(undefined);
    result.subscribe(noting(seen, 'c'));
    expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} next undefined`, `${name} complete`]));
  });

  it('fails one tick later, so for a subscriber of the same tick as well', async () => {
    const { result, unseen } = pending();
    const seen: string[] = [];
    result.end(failure);
    result.subscribe(noting(seen, 'a'));
    expect(seen).toEqual([]);
    await Promise.resolve();
    result.subscribe(noting(seen, 'b'));
    expect(seen).toEqual(['a error refused', 'b error refused']);
    expect(unseen).toEqual([]);
  });

  it.each([undefined, failure])(
    'tells all subscribers, and its owner, although one of them throws: %s',
    async (outcome) => {
      const { result, unseen } = pending();
      const seen: string[] = [];
      const throws = finalize(() => {
        throw new Error('no end');
      });
      for (const name of ['a', 'b', 'c']) result.pipe(throws).subscribe({ ...noting(seen, name), next: undefined });
      const decided: unknown[] = [];
      const decide = (of: unknown): never => {
        decided.push(of);
        throw new Error('no decision');
      };
      result.end(outcome, decide);
      await Promise.resolve();
      expect(seen).toEqual(['a', 'b', 'c'].map((name) => `${name} ${outcome ? 'error refused' : 'complete'}`));
      expect(unseen.filter((line) => line.includes('no end'))).toHaveLength(3);
      expect([decided, unseen.some((line) => line.includes('no decision'))]).toEqual(
        outcome ? [[undefined], true] : [[], false],
      );
    },
  );

  it('logs a failure without a subscriber, and one whose subscribers have left', async () => {
    const { result, unseen } = pending();
    const [first, second] = [result.subscribe(), result.subscribe()];
    first.unsubscribe();
    second.unsubscribe();
    const decided: unknown[] = [];
    result.end(failure, (of) => decided.push(of));
    await Promise.resolve();
    expect(unseen).toEqual(["emit of 'orders.created' failed: Error: refused"]);
    expect(decided).toEqual([failure]);
  });

  it('gives a failure to the subscribers that are left, and not to the one that decides', async () => {
    const { result, unseen } = pending();
    const seen: string[] = [];
    result.subscribe(noting(seen, 'a')).unsubscribe();
    result.subscribe(noting(seen, 'b'));
    const decided: unknown[] = [];
    result.end(failure, (of) => decided.push(of));
    await Promise.resolve();
    expect(seen).toEqual(['b error refused']);
    expect(unseen).toEqual([]);
    expect(decided).toEqual([undefined]);
  });

  it('works with operators and promises', async () => {
    const { result } = pending();
    const [value, last] = [firstValueFrom(result.pipe(map(() => 'done'))), lastValueFrom(result)];
    result.end(undefined);
    expect(await value).toBe('done');
    expect(await last).toBeUndefined();
  });

  it('calls each subscriber in the async context in which it subscribed', () => {
    const { result } = pending();
    const tenants = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    for (const tenant of ['a', 'b'])
      tenants.run(tenant, () => result.subscribe({ complete: () => seen.push(tenants.getStore()) }));
    tenants.run('socket', () => result.end(undefined));
    expect(seen).toEqual(['a', 'b']);
  });
});
