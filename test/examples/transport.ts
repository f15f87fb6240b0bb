import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { DlxBrokerModule, DlxClient, DlxServer, Queue, Retry } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';

@Controller()
class Orders {
  @MessagePattern('price')
  price(@Payload() { quantity }: { quantity: number }): number {
    return quantity * 3;
  }

  @EventPattern('order.created')
  @Queue('orders')
  @Retry({ attempts: 2, backoff: '20ms' })
  created(@Payload() { id }: { id: number }): void {
    console.log('order', id);
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
const client = app.get(DlxClient);
console.log('price', await firstValueFrom(client.send('price', { quantity: 2 })));
client.emit('order.created', { id: 7 });
await new Promise((resolve) => setTimeout(resolve, 100));
await app.close();
