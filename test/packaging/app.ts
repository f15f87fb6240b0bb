/* An application, compiled against the declarations of the package by check.mjs: with Nest 11 and 12, in each kind of module. */
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload, type MicroserviceOptions } from '@nestjs/microservices';
import {
  Answer,
  Consume,
  type ContractError,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  type DlxHealth,
  DlxServer,
  embedded,
  event,
  On,
  Redrives,
  request,
  Retry,
  type TopologyError,
} from 'dlx-broker';
import { createBroker, EmbeddedBackend } from 'dlx-broker/engine';
import { DlxTesting } from 'dlx-broker/testing';
import type { Observable } from 'rxjs';

@Injectable()
export class Orders {
  constructor(private readonly client: DlxClient) {}

  @Consume({ queue: 'orders', routingKey: 'order.*' })
  @DeadLetter('orders.dlx')
  @Retry({ attempts: 3, backoff: '1s' })
  create(@Payload() order: { readonly id: number }, @Ctx() context: DlxContext): Observable<unknown> {
    const [death] = context.deaths;
    return this.client.emit('parcel.sent', { id: order.id, reason: death?.reason, attempt: context.attempt });
  }
}

/** Types are inferred here, as controllers of applications do. With `declaration: true` the exports have to name them. */
@Controller('broker')
export class BrokerController {
  constructor(
    private readonly broker: DlxBroker,
    private readonly redrives: Redrives,
  ) {}

  @Get('counts')
  counts() {
    return this.broker.counts;
  }

  @Get('health')
  async health() {
    return {
      facts: await this.broker.health(),
      checks: [await this.broker.isHealthy('dlx'), this.broker.isAlive('dlx')],
    };
  }

  @Get('redrive')
  redrive() {
    return [this.redrives.dryRun({ from: 'orders.parked' }), this.redrives.start({ from: 'orders.parked' })] as const;
  }
}

export const given = {
  status: (client: DlxClient, server: DlxServer) => [client.status, server.status] as const,
  errors: (context: DlxContext) => [context.lastError, context.errors, context.deaths] as const,
  letters: (letters: DeadLetters) => [letters.from('orders.dead'), letters.failures] as const,
  differences: (error: TopologyError) => error.differences,
  issues: (error: ContractError) => error.issues,
  health: (health: DlxHealth) => [health.problems, health.oldestDeadLetter] as const,
  addresses: (broker: DlxBroker) => [broker.amqp, broker.http, broker.metrics] as const,
  paused: (broker: DlxBroker) => broker.queue('orders').paused(),
};

export const orderCreated = event<{ readonly id: number }>('order.created');
export const orderPrice = request<{ readonly id: number }, number>('order.price');
export const onOrder = On(orderCreated);

@Injectable()
export class Prices {
  @onOrder
  created(order: { readonly id: number }): void {
    console.log(order.id);
  }

  @Answer(orderPrice)
  price(order: { readonly id: number }): number {
    return order.id;
  }
}

@Module({
  imports: [DlxBrokerModule.forRoot({ broker: embedded(), prefetch: 10 })],
  providers: [Orders],
  controllers: [BrokerController],
})
export class AppModule {}

export async function main(): Promise<number> {
  const app = await NestFactory.create(AppModule);
  const server: DlxServer = app.get(DlxServer);
  server.setOnProcessingStartHook((_transport, _context, done) => void done());
  app.connectMicroservice<MicroserviceOptions>({ strategy: server }, { inheritAppConfig: true });
  await app.startAllMicroservices();
  const client: DlxClient = app.get(DlxClient);
  client.setOnDispatchHook((packet) => (packet.metadata = { trace: 'a' }));
  const answer: Observable<number> = client.send<number>('sum', [1, 2]);
  const letters: DeadLetters = app.get(DeadLetters);
  letters.from('orders.dead').subscribe(({ payload }) => console.log(payload, answer));
  return app.get(DlxBroker).counts.acked;
}

export async function test(): Promise<void> {
  const dlx = await DlxTesting.create({ providers: [Orders] });
  await dlx.publish('orders', { id: 1 });
  await dlx.advance('7m');
  dlx.expectQueue('orders.parked').toBeEmpty();
  await dlx.close();
  new EmbeddedBackend(createBroker());
}
