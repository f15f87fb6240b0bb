import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DeadLetters } from 'dlx-broker';
import { redriveTo, whereDecoded } from 'dlx-broker/streams';
import { delayWhen, Subject, type Subscription, tap } from 'rxjs';
import { Bank, type Payment } from './bank.js';
import { Timeline } from './timeline.js';

/** Watches the parking lot. Letters stay unsettled until an operator has fixed the cause. */
@Injectable()
export class Operator implements OnApplicationBootstrap {
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
        tap(({ payload, failures, error }) => {
          this.timeline.say(payload.id, '', `parked after ${failures} failures, the last: ${error?.name}`);
          this.parked.next(payload);
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

  /** Stops, as the shutdown of the application does. Letters that wait for a fix return to the parking lot. */
  leave(): void {
    this.#watching?.unsubscribe();
  }
}
