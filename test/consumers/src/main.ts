import { NestFactory } from '@nestjs/core';
import { DlxBroker, DlxClient } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { AppModule, Morgue } from './orders.js';

/** Publishes an event that dies, prints its dead letter and what the ports answer, and ends. */
async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  await firstValueFrom(app.get(DlxClient).emit('order.created', { id: 1 }), { defaultValue: undefined });
  const { letters } = app.get(Morgue);
  while (letters.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const { http, metrics } = app.get(DlxBroker);
  const page = await fetch(`http://127.0.0.1:${http?.port}/`);
  const numbers = await fetch(`http://127.0.0.1:${metrics?.port}/metrics`);
  console.log(`dead letter: ${letters.join()}; console ${page.status}, metrics ${numbers.status}`);
  await app.close();
}

void main();
