import { describe, expect, it } from 'vitest';
import type { Backend, BackendState } from '../backend/index.js';
import { harness } from '../testing/index.js';
import { DlxClient } from './client.js';
import { DlxServer } from './server.js';

const server = { product: 'RabbitMQ', version: '3.10.8' };
const failure = new Error('gone');

/** A backend whose connection the test moves. */
function arrange() {
  const { backend: embedded } = harness();
  const listeners = new Set<(state: BackendState) => void>();
  let state: BackendState = { kind: 'ready', server };
  const backend = new Proxy(embedded as Backend, {
    get(target, key) {
      if (key === 'state') return state;
      if (key === 'onState') {
        return (listener: (next: BackendState) => void) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        };
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const move = (next: BackendState): void => {
    state = next;
    for (const listener of listeners) listener(next);
  };
  return { backend, move, listeners };
}

const journey = (move: (state: BackendState) => void): void => {
  move({ kind: 'blocked', server, reason: 'low on memory' });
  move({ kind: 'ready', server });
  move({ kind: 'reconnecting', attempt: 1, failure });
  move({ kind: 'reconnecting', attempt: 2, failure });
  move({ kind: 'ready', server });
};
const seen = ['connected', 'blocked', 'connected', 'reconnecting', 'connected', 'disconnected'];

describe("Nest's status follows the connection of the backend", () => {
  it('of a client, from connect() to close()', async () => {
    const { backend, move, listeners } = arrange();
    const client = new DlxClient({ backend });
    const statuses: string[] = [];
    client.status.subscribe((status) => statuses.push(status));
    await client.connect();
    await client.connect();
    journey(move);
    client.close();
    client.close();
    expect(statuses).toEqual(seen);
    expect(listeners.size).toBe(0);
    await client.connect();
    expect(statuses.at(-1)).toBe('connected');
    client.close();
  });

  it('of a server, from listen() to close()', async () => {
    const { backend, move, listeners } = arrange();
    const dlx = new DlxServer();
    const nothing = async (): Promise<void> => undefined;
    dlx.attach({ backend, listen: nothing, drain: nothing });
    const statuses: string[] = [];
    dlx.status.subscribe((status) => statuses.push(status));
    await new Promise<unknown>((resolve) => dlx.listen(resolve));
    journey(move);
    await dlx.close();
    expect(statuses).toEqual(seen);
    expect(listeners.size).toBe(0);
  });
});
