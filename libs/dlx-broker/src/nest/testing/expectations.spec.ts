import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Consume, Retry } from '../index.js';
import { DlxTesting } from './dlx-testing.js';

@Injectable()
class Orders {
  @Consume('orders')
  @Retry({ attempts: 2, backoff: '5s' })
  create(): never {
    throw new Error('no tea');
  }
}

const arrange = (): Promise<DlxTesting> => DlxTesting.create({ providers: [Orders] }, { logger: false });

describe('what a test expects', () => {
  it('may be so, and nothing happens', async () => {
    const dlx = await arrange();
    await dlx.publish('orders', { id: 1 });
    await dlx.advance('5s');
    dlx.expectQueue('orders.parked').toHold([{ id: 1 }]);
    dlx.expectQueue('orders').toBeEmpty();
    dlx.expectQueue('orders').toHaveHad(['delivered', 'retried', 'delivered', 'parked']);
    expect(dlx.deadLetters('orders.parked')).toMatchObject([{ payload: { id: 1 }, workQueue: 'orders', failures: 2 }]);
    await dlx.close();
  });

  it('may be otherwise: then the failure tells what happened, and when', async () => {
    const dlx = await arrange();
    await dlx.publish('orders', { id: 1 });
    await dlx.advance('5s');
    const failing = (): void => dlx.expectQueue('orders.parked').toHold([]);
    expect(failing).toThrow(
      [
        "queue 'orders.parked' holds other messages",
        '  expected []',
        '  but got  [ { id: 1 } ]',
        'What happened:',
        '     +0 ms  published  orders     (default) orders',
        '     +0 ms  delivered  orders     Orders.create, attempt 1',
        '     +0 ms  retried    orders     Orders.create, attempt 1, again in 5000 ms, Error: no tea',
        '  +5000 ms  expired    wait.5000',
        '  +5000 ms  delivered  orders     Orders.create, attempt 2',
        '  +5000 ms  parked     orders     Orders.create, attempt 2, to orders.parked, Error: no tea',
      ].join('\n'),
    );
    expect(() => dlx.expectQueue('orders.parked').toBeEmpty()).toThrow(/is not empty\n.*ready: 0/);
    expect(() => dlx.expectQueue('orders').toHaveHad(['acked'])).toThrow(/other things became of the messages/);
    const meant = "there is no queue 'ordres'; did you mean 'orders'?";
    expect(() => dlx.expectQueue('ordres').toHaveHad(['acked'])).toThrow(meant);
    expect(() => dlx.expectQueue('ordres').toHold([])).toThrow(meant);
    expect(() => dlx.expectQueue('ordres').toBeEmpty()).toThrow(meant);
    await dlx.close();
  });
});
