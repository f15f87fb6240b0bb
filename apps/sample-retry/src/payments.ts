import { Injectable, UseInterceptors } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Circuit, Consume, DlxClient, Outbox, Retry } from 'dlx-broker';
import { Subject } from 'rxjs';
import { Bank, BankAway, type Payment } from './bank.js';
import { ShowAttempts } from './show-attempts.js';

/** Handles payments. It has no code for retries: it throws, and the decorators set what happens then. */
@Injectable()
export class Payments {
  readonly receipts = new Subject<Payment>();

  constructor(
    private readonly bank: Bank,
    private readonly client: DlxClient,
  ) {}

  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  @Retry({ attempts: 4, backoff: { type: 'exponential', delay: '500ms' } }) // then it is parked
  @Circuit({ on: BankAway, atLeast: 1, pause: '1s' }) // messages wait for the bank, and use up no attempt
  @Outbox() // the receipt leaves with the ack: those of failed attempts never do
  @UseInterceptors(ShowAttempts)
  async pay(@Payload() payment: Payment): Promise<void> {
    this.client.emit('payment.received', payment);
    await this.bank.transfer(payment);
  }

  @Consume({ queue: 'receipts', routingKey: 'payment.received' })
  receipt(@Payload() payment: Payment): void {
    this.receipts.next(payment);
  }
}
