import { AsyncLocalStorage, type AsyncResource, executionAsyncId } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { HomeContext } from './clock.js';

describe('a home context', () => {
  it('gives each message a context of its own, in which it sees the store of the home', () => {
    const storage = new AsyncLocalStorage<string>();
    const home = storage.run('home', () => new HomeContext());
    const seen: (string | undefined)[] = [];
    const ids = new Set<number>();
    const messages = Array.from({ length: 50 }, (_, number) => `message ${number}`);
    for (const message of messages) {
      storage.run('publisher', () => {
        home.fresh(
          (text) => {
            seen.push(storage.getStore());
            ids.add(executionAsyncId());
            storage.enterWith(text);
          },
          undefined,
          message,
        );
        seen.push(storage.getStore());
      });
    }
    expect(seen).toEqual(messages.flatMap(() => ['home', 'publisher']));
    expect(ids.size).toBe(messages.length);
  });

  it('shows no store that began after it was made', () => {
    const home = new HomeContext();
    home.fresh(() => undefined, undefined, undefined);
    const storage = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    for (let count = 0; count < 20; count++) {
      storage.run('publisher', () => home.fresh(() => seen.push(storage.getStore()), undefined, undefined));
    }
    expect(seen).toEqual(Array.from({ length: 20 }, () => undefined));
  });

  it('lets a message continue in its context, which is not that of the caller', () => {
    const storage = new AsyncLocalStorage<string>();
    const home = storage.run('home', () => new HomeContext());
    let later: AsyncResource | undefined;
    home.fresh((_, own) => (later = own), undefined, undefined);
    const seen = storage.run('publisher', () => later?.runInAsyncScope(() => storage.getStore()));
    expect(seen).toBe('home');
  });
});
