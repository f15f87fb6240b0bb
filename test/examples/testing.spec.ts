import { Injectable } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Consume, Retry } from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { expect, it } from 'vitest';

@Injectable()
class Orders {
  @Consume('orders')
  @Retry({ attempts: 4, backoff: { type: 'exponential', delay: '1m' } })
  create(@Payload() order: { id: number }): void {
    throw new Error(`no tea for order ${order.id}`);
  }
}

it('parks an order after four attempts, which is seven minutes later', async () => {
  const dlx = await DlxTesting.create({ providers: [Orders] }, { logger: false });
  await dlx.publish('orders', { id: 1 });
  await dlx.advance('7m');
  dlx.expectQueue('orders.parked').toHold([{ id: 1 }]);
  expect(dlx.deadLetters('orders.parked')[0]?.error?.message).toBe('no tea for order 1');
  await dlx.close();
});
