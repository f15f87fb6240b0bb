import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Order } from './order.js';

export class OutOfStock extends Error {}

@Injectable()
export class Warehouse {
  stock = 10;
  packing: Order | undefined;
  readonly shipped: Order[] = [];

  /** @throws OutOfStock */
  async pack(order: Order): Promise<void> {
    const { quantity, tea } = order;
    if (quantity > this.stock) throw new OutOfStock(`${quantity} × ${tea}, and ${this.stock} are left`);
    this.stock -= quantity;
    this.packing = order;
    await this.weigh();
    this.packing = undefined;
    this.shipped.push(order);
  }

  /** Weighing the tea takes two seconds. Tests replace it. */
  weigh(): Promise<unknown> {
    return wait(2_000);
  }
}
