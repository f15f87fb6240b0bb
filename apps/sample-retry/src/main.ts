import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { DlxBroker } from 'dlx-broker';
import { AppModule } from './app.module.js';
import { staysOpen } from './broker.js';
import { parkMore, runStory } from './story.js';

// Nest would log every failure with its stack. This sample shows failures in its timeline.
const app = await NestFactory.createApplicationContext(AppModule, { logger: ['fatal'], abortOnError: false });
app.enableShutdownHooks();
const { http } = app.get(DlxBroker);
if (http !== undefined) console.log(`The console: http://${http.host}:${http.port}/ (user guest, password guest)\n`);
await runStory(app, () => sleep(1_000));
if (http !== undefined) {
  await parkMore(app);
  console.log('\npay-5 to pay-7 wait in payments.parked: edit their currency in the console, and redrive them.');
}
if (!staysOpen) await app.close();
else console.log('Ctrl+C ends the sample.');
