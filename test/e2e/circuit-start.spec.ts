import { Controller, Injectable, type Type } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import {
  Circuit,
  Consume,
  DlxBroker,
  type DlxBrokerOptions,
  Expires,
  MaxLength,
  Ordered,
  Prefetch,
  Queue,
  Retry,
  Ttl,
  Unavailable,
} from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { classOf } from '../harnesses/class-of.js';

const open: DlxTesting[] = [];
afterEach(async () => {
  for (const dlx of open.splice(0)) await dlx.close();
});

async function start(parts: { providers?: Type[]; controllers?: Type[] }, transport: DlxBrokerOptions = {}) {
  const lines: string[] = [];
  const log = (...words: unknown[]): void => void lines.push(String(words[0]));
  const logger = { log, warn: log, error: log, debug: log };
  const dlx = await DlxTesting.create(parts, { logger, transport: { circuits: { bank: {} }, ...transport } });
  open.push(dlx);
  return { dlx, lines };
}

/** A class with one handler, which has these decorators besides `@Consume`. */
function handler(consume: Parameters<typeof Consume>[0], ...decorators: MethodDecorator[]): Type {
  @Injectable()
  class Payments {
    pay(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Payments.prototype, 'pay')!;
  for (const decorator of [Consume(consume), ...decorators]) decorator(Payments.prototype, 'pay', descriptor);
  return Payments;
}

describe('a start is refused', () => {
  it.each([
    [
      'an unknown circuit',
      [Circuit('bnak')],
      /@Circuit on Payments\.pay: the option 'circuits' has no 'bnak'; did you mean 'bank'\?/,
    ],
    ['two circuits', [Circuit('bank'), Circuit({})], /@Circuit on Payments\.pay: it is there 2 times; write it once/],
    ['nonsense', [Circuit({ share: 2 })], /@Circuit on Payments\.pay: share: 2 is no share/],
    ['something that is no circuit', [Circuit(5 as never)], /@Circuit on Payments\.pay: 5 is not an object of options/],
    [
      '@Expires',
      [Circuit('bank'), Expires('1h')],
      /queue 'payments' expires, with its messages, .* leave @Expires out/,
    ],
    [
      'autoDelete',
      [Circuit('bank'), Queue({ autoDelete: true })],
      /queue 'payments' is deleted, .* leave autoDelete out/,
    ],
  ] as [string, MethodDecorator[], RegExp][])('for %s', async (_, decorators, reason) => {
    await expect(start({ providers: [handler('payments', ...decorators)] })).rejects.toThrow(reason);
  });

  it('for a circuit of some but not all handlers of a queue', async () => {
    const Refunds = classOf('Refunds', { refund: [Consume({ queue: 'payments', routingKey: 'refund.#' })] });
    const Payments = handler({ queue: 'payments', routingKey: 'payment.#' }, Circuit('bank'));
    const reason =
      /queue 'payments': Payments\.pay and Refunds\.refund share it, so an open circuit stops both; give them the same/;
    await expect(start({ providers: [Payments, Refunds] })).rejects.toThrow(reason);
  });

  it.each([
    [{ circuits: 5 }, /option 'circuits' of DlxBrokerModule .* 5 is not an object of options/],
    [{ circuits: { bank: { pause: 0 } } }, /option 'circuits' of DlxBrokerModule .*, circuit 'bank': pause is 0/],
    [{ circuits: { '': {} } }, /a circuit has an empty name/],
  ])('for the option %j', async (options, reason) => {
    await expect(start({ providers: [] }, options as never)).rejects.toThrow(reason);
  });
});

describe('a start warns', () => {
  it('of messages that die while the circuit is open, and of requests', async () => {
    @Controller()
    class Prices {
      @MessagePattern('price')
      @Circuit('bank')
      price(): number {
        return 1;
      }
    }
    const Payments = handler('payments', Circuit('bank'), Ttl('1h'), MaxLength(10));
    const { lines } = await start({ providers: [Payments], controllers: [Prices] });
    for (const part of [
      'messages expire while the circuit of Payments.pay is open (@Ttl)',
      'its queue may become full while the circuit of Payments.pay is open (@MaxLength)',
      'requests wait while the circuit of Prices.price is open',
    ]) {
      expect(lines.filter((line) => line.includes(part))).toHaveLength(1);
    }
  });
});

describe('a circuit that two queues share', () => {
  it('stops both, and probes with one message of either', async () => {
    const calls: string[] = [];
    let isDown = true;
    const call = (name: string): void => {
      calls.push(name);
      if (isDown) throw new Unavailable('away', '10s');
    };
    @Injectable()
    class Bank {
      @Consume('payments')
      @Circuit('bank')
      async pay(): Promise<void> {
        await Promise.resolve();
        call('pay');
      }
      @Consume('refunds')
      @Circuit('bank')
      async refund(): Promise<void> {
        await Promise.resolve();
        call('refund');
      }
    }
    const { dlx } = await start({ providers: [Bank] });
    const broker = dlx.app.get(DlxBroker);
    await dlx.publish('payments', {});
    await dlx.settled();
    for (let count = 0; count < 3; count++) await dlx.publish('refunds', {});
    await dlx.advance('9s');
    expect([calls, broker.handlers.map(({ state }) => state)]).toEqual([['pay'], ['open', 'open']]);
    await dlx.advance('1s');
    expect(calls).toHaveLength(2); // one probe, although both queues have messages
    isDown = false;
    await dlx.advance('1m');
    expect(calls.toSorted().slice(2)).toHaveLength(4);
    dlx.expectQueue('payments').toBeEmpty();
    dlx.expectQueue('refunds').toBeEmpty();
  });
});

describe('a circuit with @Ordered', () => {
  it('keeps the order of each key over an outage, and stays the consumer', async () => {
    const done: string[] = [];
    let isDown = true;
    @Injectable()
    class Payments {
      @Consume('payments')
      @Ordered({ key: ({ key }: { key: string }) => key })
      @Retry({ attempts: 3 })
      @Circuit('bank')
      @Prefetch(4)
      pay(@Payload() { key, id }: { key: string; id: number }): void {
        if (isDown) throw new Unavailable('away', '1m');
        done.push(`${key}${id}`);
      }
    }
    const { dlx } = await start({ providers: [Payments] });
    for (let id = 0; id < 5; id++) for (const key of ['a', 'b']) await dlx.publish('payments', { key, id });
    await dlx.advance('5m');
    expect([done, dlx.circuit('bank').state]).toEqual([[], 'open']);
    expect(dlx.broker.virtualHosts.get('/')!.queues.get('payments')!.consumers.count).toBe(1);
    isDown = false;
    await dlx.advance('2m');
    expect(done.filter((one) => one.startsWith('a'))).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    expect(done.filter((one) => one.startsWith('b'))).toEqual(['b0', 'b1', 'b2', 'b3', 'b4']);
    await dlx.handler('Payments.pay').pause();
    await dlx.publish('payments', { key: 'a', id: 5 });
    await dlx.advance('1m');
    expect(done).toHaveLength(10);
    dlx.handler('Payments.pay').resume();
    await dlx.settled();
    expect(done.at(-1)).toBe('a5');
  });
});
