import { hostname } from 'node:os';
import { Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DlxBroker,
  DlxBrokerModule,
  type DlxBrokerOptions,
  DlxClient,
  DlxContext,
  Expires,
  HandlerAsync,
  Retry,
  sharedBroker,
} from 'dlx-broker';
import { createBroker } from 'dlx-broker/engine';

/** A worker shares `orders` with the other workers, and has a queue of prices of its own. */
@Injectable()
class Worker {
  @Consume({ queue: 'orders', routingKey: 'order.*' })
  @Retry({ attempts: 3 })
  order(@Payload() id: number): void {
    console.log('order', id);
  }

  @HandlerAsync({
    useFactory: () => [Consume({ queue: `prices.${hostname()}.${started++}`, routingKey: 'price.*' })],
  })
  @Expires('10m')
  @Retry({ attempts: 1 })
  price(@Payload() price: number, @Ctx() { queue }: DlxContext): void {
    console.log('price', price, 'for worker', queue.at(-1));
    if (price < 0) throw new Error('a negative price');
  }
}
let started = 0; // this host runs several, the API with number 0

const engine = createBroker();
const broker = sharedBroker(engine); // rabbitmq({ urls }) for processes
function rootOf(options: DlxBrokerOptions): Type {
  @Module({ imports: [DlxBrokerModule.forRoot({ broker, logFailures: 'none', ...options })], providers: [Worker] })
  class AppModule {}
  return AppModule;
}
const run = (options: DlxBrokerOptions = {}) =>
  NestFactory.createApplicationContext(rootOf(options), { logger: false });

const api = await run({ registerHandlers: false });
api.get(DlxClient).emit('order.placed', 1); // no worker runs yet: it waits in 'orders'
const workers = [await run(), await run()];
api.get(DlxClient).emit('price.changed', 5);
api.get(DlxClient).emit('price.changed', -1);
await new Promise((resolve) => setTimeout(resolve, 100));
console.log('parked:', (await api.get(DlxBroker).backend.status('Worker.price.parked'))?.messages);
for (const app of [...workers, api]) await app.close();
engine.close(); // the applications leave a shared broker open
