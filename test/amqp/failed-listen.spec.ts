import { type AddressInfo, createServer } from 'node:net';
import { type Broker, createBroker } from 'dlx-broker/engine';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listen } from '../../libs/dlx-broker/src/amqp/server/listener.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';
import { listenHttp } from '../../libs/dlx-broker/src/server/index.js';

interface Port {
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string };
}

describe.each<[string, (broker: Broker, options: Port) => Promise<unknown>]>([
  ['AMQP', listen],
  [
    'HTTP',
    (broker, options) => listenHttp({ broker, now: () => broker.clock.now(), patterns: policyPatterns }, options),
  ],
])('a port for %s that cannot be opened', (_, open) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it('leaves no timer behind when its certificate is invalid', async () => {
    const broker = createBroker();
    const before = vi.getTimerCount();
    const tls = { cert: 'no certificate', key: 'no key' };
    await expect(open(broker, { port: 0, tls })).rejects.toThrow('PEM');
    expect(vi.getTimerCount()).toBe(before);
  });

  it('leaves no timer behind when it is taken', async () => {
    const broker = createBroker();
    const before = vi.getTimerCount();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(open(broker, { port })).rejects.toThrow('EADDRINUSE');
    expect(vi.getTimerCount()).toBe(before);
    await new Promise((resolve) => other.close(resolve));
  });
});
