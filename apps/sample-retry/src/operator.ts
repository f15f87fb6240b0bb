import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DeadLetters } from 'dlx-broker';
import { redriveTo, whereDecoded } from 'dlx-broker/streams';
import { delayWhen, Subject, type Subscription, tap } from 'rxjs';
import { Bank, type Payment } from './bank.js';
import { Timeline } from './timeline.js';

/** Watches the parking lot. Letters stay unsettled until an operator has fixed the cause. */
@Injectable()
export class Operator implements OnApplicationBootstrap, OnModuleDestroy {
  readonly parked = new Subject<Payment>();
  readonly #fixed = new Subject<void>();
  #watching: Subscription | undefined;

  constructor(
    private readonly letters: DeadLetters,
    private readonly bank: Bank,
    private readonly timeline: Timeline,
  ) {}

  onApplicationBootstrap(): void {
    this.#watching = this.letters
      .from<Payment>('payments.parked')
      .pipe(
        whereDecoded(),
        tap((letter) => {
          const { id } = letter.payload;
          const reason = String(letter.headers['dlx-error-class']);
          this.timeline.say(id, '', `parked after ${letter.failures} failures, the last: ${reason}`);
          this.parked.next(letter.payload);
        }),
        delayWhen(() => this.#fixed),
        tap((letter) => this.timeline.say(letter.payload.id, '', 'redriven to where it came from')),
        redriveTo(),
      )
      .subscribe();
  }

  fix(currency: string): void {
    this.bank.fix(currency);
    this.timeline.say('', '', `the bank learns about ${currency}`);
    this.#fixed.next();
  }

  /** Stops. Letters that wait for a fix return to the parking lot. */
  leave(): void {
    this.#watching?.unsubscribe();
  }

  onModuleDestroy(): void {
    this.leave();
  }
}
