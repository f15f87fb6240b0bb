import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, Idempotent, RedisIdempotencyStore } from 'dlx-broker';
import { Redis } from 'ioredis';
import { filter, firstValueFrom, skip } from 'rxjs';

const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', { maxRetriesPerRequest: 1 });

@Injectable()
class Payments {
  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  @Idempotent({ key: (payment: { id: string }) => payment.id, ttl: '7d', lease: '2m' })
  pay(@Payload() { id }: { id: string }): void {
    console.log('paid', id);
  }
}

@Module({
  imports: [DlxBrokerModule.forRoot({ prefetch: 1, idempotencyStore: new RedisIdempotencyStore(redis) })],
  providers: [Payments],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const acked = app.get(DlxBroker).events.pipe(filter(({ kind }) => kind === 'acked'));
const threeAcked = firstValueFrom(acked.pipe(skip(2)));
for (const id of ['a', 'b', 'a']) app.get(DlxClient).emit('payment.requested', { id });
await threeAcked;
console.log(await redis.get('dlx-broker:idempotency:payments:a'));
await app.close();
await redis.quit();
