import { lastValueFrom, Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Backend, BackendState } from '../../backends/index.js';
import { harness } from '../../testing.js';
import { DlxServer } from '../module/server.js';
import { refuseLater, StartGate } from './client-state.js';
import { DlxClient } from './client.js';

const server = { product: 'RabbitMQ', version: '3.10.8' };
const failure = new Error('gone');

/** A backend whose connection the test moves. */
function arrange() {
  const { backend: embedded, clock } = harness();
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
  return { backend, clock, move, listeners };
}

const journey = (move: (state: BackendState) => void): void => {
  move({ kind: 'blocked', server, reason: 'low on memory' });
  move({ kind: 'ready', server });
  move({ kind: 'reconnecting', attempt: 1, failure });
  move({ kind: 'reconnecting', attempt: 2, failure });
  move({ kind: 'ready', server });
};
const seen = ['connected', 'blocked', 'connected', 'reconnecting', 'connected', 'disconnected'];

describe('a client', () => {
  it('that is not connected says so when the time of a request is over', async () => {
    const { backend, clock, move } = arrange();
    const client = new DlxClient({ backend, requests: 'amq.direct' });
    await client.connect();
    move({ kind: 'reconnecting', attempt: 1, failure });
    backend.openReplies = () => ({ request: () => undefined, close: () => undefined });
    const failed = new Promise<Error>((resolve) =>
      client.send('sum', 1, { timeout: '2s' }).subscribe({ error: resolve }),
    );
    clock.advance(2_000);
    expect(await failed).toMatchObject({
      name: 'ConnectionLostError',
      mayBeTaken: false,
      message: "not connected: request 'sum' was not sent within 2000 ms: gone",
    });
  });

  it('passes the time limit of an event to the broker, and refuses one that is none', async () => {
    const { backend } = arrange();
    const client = new DlxClient({ backend });
    await client.connect();
    const limits: unknown[] = [];
    backend.publish = ({ timeout }, done) => {
      limits.push(timeout);
      done?.();
    };
    await lastValueFrom(client.emit('x', 1, { timeout: '2s' }), { defaultValue: undefined });
    await lastValueFrom(client.emit('x', 1), { defaultValue: undefined });
    expect(limits).toEqual([2_000, undefined]);
    const refused = lastValueFrom(client.emit('x', 1, { timeout: 0 }), { defaultValue: undefined });
    await expect(refused).rejects.toThrow('timeout of emit: 0 is no time at all');
  });

  it('whose application does not start fails after 30 s, with the remedy', async () => {
    const { backend, clock } = arrange();
    const client = new DlxClient({ backend, gate: new StartGate(clock) });
    const failed = new Promise<Error>((resolve) => client.emit('x', 1).subscribe({ error: resolve }));
    await new Promise<void>((resolve) => setImmediate(resolve));
    clock.advance(30_000);
    expect((await failed).message).toMatch(/^nothing was sent within 30000 ms, .*in onModuleInit or later/);
  });
});

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
