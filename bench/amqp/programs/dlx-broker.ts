import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DlxBroker, DlxBrokerModule, embedded } from 'dlx-broker';
import { type Pace, rateOf, type Result, until } from '../measure.js';
import { bodyOf } from '../scene.js';

/**
 * Persistent messages that an application publishes to a durable queue of its own broker, with a window of unconfirmed ones. Each
 * is on disk before its confirm. Server and program are one process: both columns have its processor time.
 */
export async function withDlxBroker(folder: string, pace: Pace, outstanding: number, size: number): Promise<Result> {
  const queue = { name: 'w2', durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
  const topology = { queues: [queue] };
  @Module({
    imports: [DlxBrokerModule.forRoot({ broker: embedded({ dataDir: folder, durability: 'fsync' }), topology })],
  })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const { backend } = app.get(DlxBroker);
  const publication = {
    exchange: '',
    routingKey: 'w2',
    properties: { deliveryMode: 2 },
    body: bodyOf(size),
    mandatory: true,
  };
  let published = 0;
  let confirmed = 0;
  let isStopped = false;
  const pump = (): void => {
    for (; !isStopped && published - confirmed < outstanding; published++) backend.publish(publication, onConfirmed);
  };
  const onConfirmed = (failure?: Error): void => {
    if (failure !== undefined) throw failure;
    confirmed++;
    if ((outstanding - (published - confirmed)) * 8 >= outstanding) pump();
  };
  pump();
  const self = { name: '', host: '', port: 0, vhost: '', user: '', password: '', pid: process.pid };
  const result = await rateOf(self, pace, () => confirmed);
  isStopped = true;
  await until(() => confirmed === published);
  await app.close();
  return result;
}
