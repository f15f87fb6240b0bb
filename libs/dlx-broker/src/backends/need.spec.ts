import { describe, expect, it } from 'vitest';
import { harness } from '../nest/testing/harness.js';
import type { Backend } from './backend.js';
import { NotAvailableError } from './errors.js';
import { type Capability, need } from './need.js';

/** A backend on a server that can do nothing beyond the port. */
const plain = (more: Partial<Backend> = {}): Backend =>
  ({ state: { kind: 'ready', server: { product: 'RabbitMQ', version: '3.10.8' } }, ...more }) as unknown as Backend;

const failureOf = (backend: Backend, capability: Capability): NotAvailableError => {
  try {
    need(backend, capability);
  } catch (error) {
    return error as NotAvailableError;
  }
  throw new Error('it is available');
};

describe('what a server lacks', () => {
  it.each<[Capability, string]>([
    ['browsing', 'RabbitMQ 3.10.8 cannot show the messages that wait in a queue: AMQP 0-9-1'],
    ['listing', 'RabbitMQ 3.10.8 cannot list its queues: AMQP 0-9-1'],
    ['delayed', 'RabbitMQ 3.10.8 cannot take back delayed messages: it holds'],
    ['pausing', 'RabbitMQ 3.10.8 cannot pause a queue: it delivers'],
    ['deaths', 'RabbitMQ 3.10.8 cannot report deaths of messages: a server'],
  ])('%s: the error names the server, what it cannot do, why, and a remedy', (capability, start) => {
    const failure = failureOf(plain(), capability);
    expect(failure).toBeInstanceOf(NotAvailableError);
    expect(failure).toMatchObject({ capability, retry: 'never', mayBeTaken: false });
    expect(failure.message.startsWith(start)).toBe(true);
    expect(failure.message).toContain('; ');
  });

  it('the backend may know a better remedy', () => {
    const backend = plain({ remedyFor: (capability) => (capability === 'listing' ? 'set option x' : undefined) });
    expect(failureOf(backend, 'listing').message).toMatch(/; set option x$/);
    expect(failureOf(backend, 'browsing').message).not.toContain('set option x');
  });

  it('while it is not connected the error says so', () => {
    const state = { kind: 'reconnecting', attempt: 2, failure: new Error('gone') } as const;
    expect(failureOf(plain({ state }), 'listing').message).toContain(
      'the broker (reconnecting) cannot list its queues',
    );
  });

  it('the embedded backend has everything, and is ready at once and for ever', async () => {
    const { backend } = harness();
    for (const capability of ['browsing', 'listing', 'delayed', 'deaths', 'pausing'] as const) {
      expect(need(backend, capability)).toBe(backend[capability]);
    }
    const server = { product: 'embedded', version: '4', behavesAs: '4.3.6' };
    expect(backend.state).toEqual({ kind: 'ready', server });
    expect(await backend.ready).toEqual(server);
    await backend.close();
  });
});
