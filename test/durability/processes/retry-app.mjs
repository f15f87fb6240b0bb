// A Nest application in one process, killed and started again by the test beside it. It is JavaScript, so that it runs as it
// is; decorators are functions. `node retry-app.mjs DIRECTORY [jobs to ask for]`
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, embedded, Retry } from 'dlx-broker';

const [directory, wanted = '0'] = process.argv.slice(2);
const say = (what) => process.stdout.write(`${JSON.stringify({ ...what, time: Date.now() })}\n`);

/** Never works, and tells how often it was tried. */
class Jobs {
  async run(job, context) {
    say({ id: job.id, attempt: context.attempt });
    throw new Error('not yet');
  }
}
const run = ['run', Object.getOwnPropertyDescriptor(Jobs.prototype, 'run')];
Payload()(Jobs.prototype, 'run', 0);
Ctx()(Jobs.prototype, 'run', 1);
Consume({ queue: 'jobs', routingKey: 'job.wanted' })(Jobs.prototype, ...run);
Retry({ attempts: 3, backoff: { type: 'fixed', delay: 2_000 } })(Jobs.prototype, ...run);
Injectable()(Jobs);

class AppModule {}
Module({
  imports: [DlxBrokerModule.forRoot({ broker: embedded({ dataDir: directory, listen: { amqp: { port: 0 } } }) })],
  providers: [Jobs],
})(AppModule);

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['fatal'], abortOnError: false });
say({ ready: true, port: app.get(DlxBroker).amqp?.port });
const client = app.get(DlxClient);
for (let id = 1; id <= Number(wanted); id++) client.emit('job.wanted', { id }).subscribe();
