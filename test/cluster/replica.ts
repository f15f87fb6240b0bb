import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type AsyncMicroserviceOptions, Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import {
  Consume,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxServer,
  Prefetch,
  QueueArguments,
  rabbitmq,
  Retry,
} from 'dlx-broker';

/** A replica of a service, as a process: answers each event by another event, and requests. Ready when it writes a line. */
const urls = (process.env['BROKER_URL'] ?? '').split(',');

@Controller()
class Answers {
  constructor(private readonly client: DlxClient) {}

  @Consume({ queue: 'round.work', routingKey: 'round.asked' })
  @QueueArguments({ 'x-queue-type': 'quorum' })
  @Retry({ attempts: 3, backoff: { type: 'fixed', delay: '1s' } })
  @Prefetch(10)
  async asked(@Payload() { number }: { number: number }, @Ctx() { attempt, properties }: DlxContext): Promise<void> {
    await wait(Math.random() * 200);
    if (number % 2 === 0 && attempt === 1) throw new Error('not yet');
    const messageId = `answer to ${properties.messageId}`; // the same if it is answered again
    await this.client.emit('round.answered', { number }, { messageId }).forEach(() => undefined);
  }

  @MessagePattern('round.double')
  async double(@Payload() { number }: { number: number }): Promise<number> {
    await wait(Math.random() * 5);
    return number * 2;
  }
}

const broker = rabbitmq({ urls });
const forRoot = DlxBrokerModule.forRoot({ broker, clusterTopology: true, logFailures: 'none', drainTimeout: '5s' });
@Module({ imports: [forRoot], controllers: [Answers] })
class ReplicaModule {}

const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(ReplicaModule, {
  inject: [DlxServer],
  useFactory: (server: DlxServer) => ({ strategy: server }),
  logger: false,
});
app.enableShutdownHooks();
await app.listen();
process.stdout.write('ready\n');
