import { Observable } from 'rxjs';
import { expect, it } from 'vitest';
import { refuseLater } from './client-closed-error.js';

/** Immediates that keep this process alive. */
const alive = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Immediate').length;
const refused = (count: { refusals: number }): Observable<never> =>
  new Observable((request) => refuseLater(request, count.refusals++));

it('a refused request keeps the process alive until it has its error', async () => {
  const before = alive();
  const failure = new Promise((resolve) => refused({ refusals: 0 }).subscribe({ error: resolve }));
  expect(alive()).toBe(before + 1);
  expect(await failure).toMatchObject({ name: 'ClientClosedError' });
});

it('a request that was sent again a hundred times does not', async () => {
  const before = alive();
  const failure = new Promise((resolve) => refused({ refusals: 100 }).subscribe({ error: resolve }));
  expect(alive()).toBe(before);
  expect(await failure).toMatchObject({ name: 'ClientClosedError' });
});
