// A Nest application that keeps its queues in a directory, for the test beside it: `node data-app.mjs DIRECTORY`. It says what
// it could not begin with; else it emits until that fails, says why, and ends.
import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { ConsoleLogger, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DlxBrokerModule, DlxClient, embedded } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';

const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const saidOf = ({ name, message }) => ({ name, message });

class Jobs {
  run() {}
}
const run = ['run', Object.getOwnPropertyDescriptor(Jobs.prototype, 'run')];
Consume({ queue: 'jobs', routingKey: 'job.wanted' })(Jobs.prototype, ...run);
Injectable()(Jobs);

class AppModule {}
Module({ imports: [DlxBrokerModule.forRoot({ broker: embedded({ dataDir: process.argv[2] }) })], providers: [Jobs] })(
  AppModule,
);

try {
  const logger = new ConsoleLogger({ logLevels: ['error'], colors: false });
  const app = await NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
  say({ ready: true });
  const client = app.get(DlxClient);
  for (;;) {
    const failure = await firstValueFrom(client.emit('job.wanted', {}), { defaultValue: undefined }).catch(saidOf);
    if (failure !== undefined) {
      say(failure);
      break;
    }
    await setTimeout(20);
  }
  await app.close();
  say({ closed: true });
} catch (error) {
  say(saidOf(error));
  process.exitCode = 2;
}
