import { Controller, type MessageEvent, Module, type OnApplicationBootstrap, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  type Death,
  DeadLetter,
  DeadLetters,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  embedded,
  OnDeadLetter,
  rabbitmq,
  type XDeath,
} from 'dlx-broker';
import { parkWhen, whereDecoded } from 'dlx-broker/streams';
import { auditTime, BehaviorSubject, filter, finalize, firstValueFrom, map, mergeMap, type Observable } from 'rxjs';

interface Payment {
  readonly currency: string;
}

const textOf = (deaths: readonly XDeath[]): string =>
  deaths.map(({ queue, reason, count }) => `${queue} ${reason} ${count}`).join(', ') || 'none';

@Controller()
class Payments implements OnApplicationBootstrap {
  constructor(private readonly letters: DeadLetters) {}

  @Consume({ queue: 'payments', routingKey: 'payment.*' })
  @DeadLetter('', 'payments.dead')
  pay(@Payload() { currency }: Payment, @Ctx() { deaths }: DlxContext): void {
    console.log('handler:', textOf(deaths));
    throw new Error(`no rate for ${currency}`);
  }

  /** Retries dead letters after 10 ms, 20 ms ..., and parks them after the third failure. */
  onApplicationBootstrap(): void {
    this.letters.run<Payment>('payments.dead', (dead) =>
      dead.pipe(
        whereDecoded(),
        parkWhen(({ failures }) => failures >= 3),
        mergeMap((letter) => {
          console.log('stream:', textOf(letter.deaths));
          return letter.retryIn(10 * 2 ** (letter.failures - 1));
        }),
      ),
    );
  }
}

@Controller()
class Dashboard {
  /** One source for all viewers: the last 50 parked letters. */
  readonly #parked = new BehaviorSubject<readonly object[]>([]);
  readonly viewers = new BehaviorSubject(0);

  @OnDeadLetter({ kinds: ['parked'] })
  parked({ letter, deaths }: Death): void {
    console.log('hook:', textOf(deaths));
    this.#parked.next([...this.#parked.value, { payload: letter.payload, deaths: textOf(deaths) }].slice(-50));
  }

  @Sse('dead-letters')
  watch(): Observable<MessageEvent> {
    this.viewers.next(this.viewers.value + 1);
    return this.#parked.pipe(
      auditTime(50), // at most 20 events a second for a viewer, however many letters die
      map((rows) => ({ data: rows })),
      finalize(() => this.viewers.next(this.viewers.value - 1)), // the browser is gone
    );
  }
}

const { BROKER_URL } = process.env;
const broker = BROKER_URL === undefined ? embedded() : rabbitmq({ urls: BROKER_URL });

@Module({
  imports: [DlxBrokerModule.forRoot({ broker, logFailures: 'none', topology: { queues: ['payments.dead'] } })],
  controllers: [Payments, Dashboard],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');

/** As `new EventSource('/dead-letters')` of a browser, until there is a row. */
async function view(): Promise<string> {
  const { body } = await fetch(`${await app.getUrl()}/dead-letters`);
  let text = '';
  for await (const bytes of body!) {
    text += Buffer.from(bytes).toString();
    const rows = /data: (\[\{.*)\n/.exec(text)?.[1];
    if (rows !== undefined) return rows; // ends the request
  }
  throw new Error('the stream has ended');
}
const viewers = [view(), view()];
app.get(DlxClient).emit('payment.requested', { currency: 'JPY' });
for (const rows of await Promise.all(viewers)) console.log('viewer:', rows);
console.log('later viewer:', await view());
await firstValueFrom(app.get(Dashboard).viewers.pipe(filter((count) => count === 0)));
console.log('all viewers left');
await app.close();
