import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, type DlxBrokerOptions, DlxClient, embedded, Retry } from 'dlx-broker';
import { lastValueFrom } from 'rxjs';

const dataDir = mkdtempSync(join(tmpdir(), 'shop-')); // './data' in production

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.*' })
  @Retry({ attempts: 3 })
  create(@Payload() { id }: { id: number }): void {
    console.log('order', id);
  }
}

async function start(options: DlxBrokerOptions): Promise<INestApplicationContext> {
  @Module({ imports: [DlxBrokerModule.forRoot({ broker: embedded({ dataDir }), ...options })], providers: [Orders] })
  class AppModule {}
  return NestFactory.createApplicationContext(AppModule, { logger: false });
}

const first = await start({ registerHandlers: false }); // no handler takes the message
await lastValueFrom(first.get(DlxClient).emit('order.created', { id: 7 }));
await first.close();
console.log('the first process has ended');

const second = await start({});
setTimeout(() => second.close(), 100);
