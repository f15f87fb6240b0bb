import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { prepare, withoutParsers } from './prepare.js';

const { HOST = '127.0.0.1', PORT = '3000' } = process.env;
const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  ...withoutParsers,
  logger: ['error', 'warn'],
});
// At Ctrl+C and SIGTERM the shop packs the order in hand before it ends.
app.enableShutdownHooks();
await prepare(app);
await app.listen(Number(PORT), HOST);
console.log(`The shop is open at ${await app.getUrl()}`);
