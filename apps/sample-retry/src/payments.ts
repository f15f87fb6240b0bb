import { Injectable, UseInterceptors } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Consume, Retry } from 'dlx-broker';
import { Subject } from 'rxjs';
import { Bank, type Payment } from './bank.js';
import { policy } from './policy.js';
import { ShowAttempts } from './show-attempts.js';

/** Handles payments. It has no code for retries: it throws, and the decorators set what happens then. */
@Injectable()
export class Payments {
  readonly paid = new Subject<Payment>();

  constructor(private readonly bank: Bank) {}

  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  @Retry(policy)
  @UseInterceptors(ShowAttempts)
  async pay(@Payload() payment: Payment): Promise<void> {
    await this.bank.transfer(payment);
    this.paid.next(payment);
  }
}
