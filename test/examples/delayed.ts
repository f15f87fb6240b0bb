import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, DlxContext } from 'dlx-broker';

@Injectable()
class Reminders {
  @Consume({ queue: 'reminders', routingKey: 'invoice.unpaid' })
  remind(@Ctx() { properties }: DlxContext): void {
    console.log('remind of', properties.messageId);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Reminders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const client = app.get(DlxClient);
client.emit('invoice.unpaid', {}, { delay: 120, messageId: 'the third' });
client.emit('invoice.unpaid', {}, { delay: 60, messageId: 'the second' });
client.emit('invoice.unpaid', {}, { delay: 30, messageId: 'the first' });
console.log('taken back:', await client.cancelDelayed('the second'));
setTimeout(() => app.close(), 250);
