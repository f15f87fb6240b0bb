import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { DeadLetter, MaxLength, Prefetch, Queue, Ttl } from 'dlx-broker';
import { deadLetters, type Order } from './order.js';
import { Warehouse } from './warehouse.js';

@Controller()
export class Packer {
  constructor(private readonly warehouse: Warehouse) {}

  /** Packs one order after the other. If it throws, the message is rejected. */
  @EventPattern<string>('order.placed')
  @Queue('orders')
  @Prefetch(1) // one order at a time; the others wait in the queue
  @Ttl('6s') // an order that waits longer expires
  @MaxLength(5) // the sixth waiting order pushes out the oldest one
  @DeadLetter(deadLetters) // rejected, expired and pushed out orders go there
  async pack(@Payload() order: Order): Promise<void> {
    await this.warehouse.pack(order);
  }
}
