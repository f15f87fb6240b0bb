import { NestFactory } from '@nestjs/core';
import { DlxClient } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { AppModule, Morgue } from './orders.js';

/** Publishes an event that dies, prints its dead letter, and ends. */
async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  await firstValueFrom(app.get(DlxClient).emit('order.created', { id: 1 }), { defaultValue: undefined });
  const { letters } = app.get(Morgue);
  while (letters.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  console.log(`dead letter: ${letters.join()}`);
  await app.close();
}

void main();
