import { Injectable } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Consume, DeadLetter } from 'dlx-broker';
import type { Order } from './order.js';
import { morgue } from './topology.js';

export class OutOfStock extends Error {}

@Injectable()
export class Warehouse {
  readonly shipped: Order[] = [];

  /** When it throws, the message is rejected, and so dead-lettered. */
  @Consume({ queue: 'orders', routingKey: 'order.standard' })
  @DeadLetter(morgue, 'dead.rejected')
  ship(@Payload() order: Order): void {
    if (order.quantity > 10) throw new OutOfStock(`${order.quantity} × ${order.item}, and 10 is all there is`);
    this.shipped.push(order);
  }
}
