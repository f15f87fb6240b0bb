import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { tell } from './story.js';

// Nest would log every failure with its stack; here they are the story, and the timeline tells them.
const app = await NestFactory.createApplicationContext(AppModule, { logger: ['fatal'], abortOnError: false });
await tell(app, () => sleep(1_000));
// With --once the sample ends here; without, the broker and its handlers stay until you press Ctrl+C.
if (process.argv.includes('--once')) await app.close();
else app.enableShutdownHooks();
