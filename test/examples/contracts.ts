import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Answer,
  ContractError,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  event,
  On,
  request,
  Retry,
  type StandardSchema,
} from 'dlx-broker';
import { firstValueFrom } from 'rxjs';

interface Order {
  readonly id: string;
}

// With a library: const orderSchema = z.object({ id: z.string() })
const orderSchema: StandardSchema<Order> = {
  '~standard': {
    version: 1,
    vendor: 'shop',
    validate: (value) => {
      const { id } = (value ?? {}) as Partial<Order>;
      return typeof id === 'string' ? { value: { id } } : { issues: [{ message: 'is no text', path: ['id'] }] };
    },
  },
};

const orderCreated = event<Order>('order.created', { schema: orderSchema });
const orderPrice = request<Order, number>('order.price');

@Injectable()
class Billing {
  @On(orderCreated)
  @Retry({ attempts: 5 })
  bill(order: Order): void {
    console.log('billed', order.id);
  }

  @Answer(orderPrice)
  price(order: Order): number {
    return order.id.length;
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Billing] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const client = app.get(DlxClient);
await firstValueFrom(client.emit(orderCreated, { id: 'a-1' }));
console.log('price', await firstValueFrom(client.send(orderPrice, { id: 'a-1' })));

// What another service publishes may be anything.
await firstValueFrom(client.emit('order.created', { id: 5 }));
await new Promise((resolve) => setTimeout(resolve, 50));
console.log('parked', app.get(DlxBroker).counts.parked, 'after', app.get(DlxBroker).counts.retried, 'retries');

const wrong = JSON.parse('{"id":5}') as Order;
const error: unknown = await firstValueFrom(client.emit(orderCreated, wrong)).catch((thrown: unknown) => thrown);
if (error instanceof ContractError) console.log(error.message);
await app.close();
