import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { DlxBroker, DlxBrokerModule, DlxClient, DlxContext, DlxServer, Queue, Retry } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';

/** Replaces a service with `Transport.RMQ` and the queue `orders`. Its clients stay as they are. */
@Controller()
class Orders {
  @MessagePattern('price')
  @Queue({ name: 'orders', envelope: 'nest' })
  price(@Payload() quantity: number): number {
    return quantity * 3;
  }

  @EventPattern<string>('order.*')
  @Queue({ name: 'orders', envelope: 'nest' })
  @Retry({ attempts: 2, backoff: '20ms' })
  changed(@Payload() { id }: { id: number }, @Ctx() context: DlxContext): void {
    console.log(context.getPattern(), id, 'attempt', context.attempt);
    throw new Error('no tea');
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], controllers: [Orders] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
app.enableShutdownHooks(); // SIGTERM ends the process after the running handlers
app.connectMicroservice({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
await app.startAllMicroservices();
await app.init();

const orders = app.get(DlxClient).to({ queue: 'orders', envelope: 'nest' }); // writes packets, as ClientRMQ does
console.log('price', await firstValueFrom(orders.send('price', 2)));
orders.emit('order.created', { id: 7 });
while (app.get(DlxBroker).counts.parked === 0) await new Promise((resolve) => setTimeout(resolve, 20));
await app.close();
