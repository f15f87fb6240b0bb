import { Injectable, Module } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBrokerModule, DlxClient, DlxContext, embedded, Retry } from 'dlx-broker';
import { dlxTracing } from 'dlx-broker/otel';

export interface Order {
  readonly id: number;
}

/** Where a dead letter arrives. */
@Injectable()
export class Morgue {
  readonly letters: string[] = [];

  @Consume({ queue: 'orders.dead', exchange: 'orders.dlx', routingKey: '#' })
  bury(@Payload() order: Order, @Ctx() { headers, deaths }: DlxContext): void {
    this.letters.push(`order ${order.id}, ${String(headers['dlx-error-message'])}, ${deaths[0]?.reason}`);
  }
}

@Injectable()
export class Orders {
  // Injected by its type: the builder has to write the metadata of decorators.
  constructor(private readonly client: DlxClient) {}

  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @DeadLetter('orders.dlx')
  create(): void {
    if (!(this.client instanceof DlxClient)) throw new Error('another copy of the package');
    throw new Error('no tea');
  }

  @Consume('mails')
  @Retry({ attempts: 4, backoff: { type: 'exponential', delay: '1m' } })
  mail(): void {
    throw new Error('no answer');
  }
}

const listen = { amqp: { port: 0 }, http: { port: 0 }, metrics: { port: 0 } };

@Module({
  imports: [DlxBrokerModule.forRoot({ broker: embedded({ listen }), tracing: dlxTracing() })],
  providers: [Orders, Morgue],
})
export class AppModule {}
