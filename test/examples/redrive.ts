import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, Redrives, Retry } from 'dlx-broker';

let isFixed = false;

@Injectable()
class Invoices {
  @Consume({ queue: 'invoices', routingKey: 'invoice.due' })
  @Retry({ attempts: 1 })
  send(@Payload() { id }: { id: number }): void {
    if (!isFixed) throw new Error('no paper');
    console.log('sent', id);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Invoices] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
for (const id of [1, 2, 3]) app.get(DlxClient).emit('invoice.due', { id });
await new Promise((resolve) => setTimeout(resolve, 50));
console.log('parked', app.get(DlxBroker).counts.parked);

const redrives = app.get(Redrives);
const request = { from: 'invoices.parked', perSecond: 200 };
console.log('would go to', (await redrives.dryRun(request)).destinations);
isFixed = true;
const { state, redriven } = await redrives.start(request).ended;
console.log(state, redriven);
await app.close();
