import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const { HOST = '127.0.0.1', PORT = '3000' } = process.env;
const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(Number(PORT), HOST);
console.log(`The shop is open at ${await app.getUrl()}`);
