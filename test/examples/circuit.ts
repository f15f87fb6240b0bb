import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Circuit, Consume, DlxBroker, DlxBrokerModule, DlxClient, DlxContext, Retry } from 'dlx-broker';

class BankDown extends Error {
  override readonly name = 'BankDown';
}

let isUp = false;

@Injectable()
class Payments {
  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  @Retry({ attempts: 3 })
  @Circuit('bank')
  pay(@Payload() { id }: { id: number }, @Ctx() { attempt }: DlxContext): void {
    if (!isUp) throw new BankDown('no route to the bank');
    console.log(`paid ${id}, attempt ${attempt}`);
  }
}

const root = DlxBrokerModule.forRoot({ circuits: { bank: { on: BankDown, atLeast: 1, pause: '20ms' } } });

@Module({ imports: [root], providers: [Payments] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const broker = app.get(DlxBroker);
broker.events.subscribe(({ kind, reason }) => {
  if (kind === 'opened') console.log('opened:', reason);
  if (kind === 'closed') console.log('closed, parked so far:', broker.counts.parked);
  if (kind === 'probing') isUp = true; // the bank comes back
});
app.get(DlxClient).emit('payment.requested', { id: 1 });
setTimeout(() => app.close(), 300);
