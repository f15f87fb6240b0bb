import { Injectable } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, MaxPriority, Retry, SingleActiveConsumer } from 'dlx-broker';
import { BankTimeout, CardDeclined, TemplateError, ValidationError } from './errors.js';
import { deadLetters } from './topology.js';
import { isDown, work } from './world.js';

export interface Item {
  readonly sku: string;
  readonly quantity: number;
  readonly price: number;
}

@Injectable()
export class Money {
  /** Rejects an order for ever: the cure is to edit it in the console, and to redrive it. */
  @Consume({ queue: 'orders', routingKey: 'order.placed' })
  @DeadLetter(deadLetters, 'orders')
  order(@Payload() { orderId, items }: { orderId: number; items: readonly Item[] }): void {
    for (const { sku, quantity } of items)
      if (quantity < 1) throw new ValidationError(`order ${orderId}: quantity of ${sku} is ${quantity}, at least 1`);
  }

  /** First retry loop: fixed delays. A declined card is parked at once, because the bank answers the same again. */
  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  @Retry({ attempts: 4, backoff: ['1s', '5s', '30s'], neverRetry: [CardDeclined] })
  async pay(@Payload() { bank, card, orderId }: { bank: string; card: string; orderId: number }): Promise<void> {
    await work(40);
    if (card.endsWith('0002')) throw new CardDeclined(`card of order ${orderId} declined: code 51`);
    if (bank === 'nordbank' && isDown(bank)) throw new BankTimeout(`no answer after ${3_000 + (orderId % 900)} ms`);
  }

  /** Second retry loop: exponential delays. */
  @Consume({ queue: 'invoices', routingKey: 'invoice.requested' })
  @Retry({ attempts: 5, backoff: { type: 'exponential', delay: '2s', max: '1m' } })
  async invoice(@Payload() { invoiceId, lines }: { invoiceId: string; lines: readonly object[] }): Promise<void> {
    await work(120);
    const gap = lines.findIndex((line) => !('vat' in line));
    if (gap >= 0) throw new TemplateError(`invoice ${invoiceId}: line ${gap + 1} has no 'vat'`);
  }

  @Consume({ queue: 'refunds', routingKey: 'refund.requested' })
  @DeadLetter(deadLetters, 'refunds')
  @MaxPriority(5)
  @SingleActiveConsumer()
  async refund(@Payload() { refundId, amount }: { refundId: number; amount: number }): Promise<void> {
    await work(80);
    if (amount > 500) throw new ValidationError(`refund ${refundId}: ${amount} EUR is above the limit of 500 EUR`);
  }
}
