import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBrokerModule, DlxClient, MaxLength, Prefetch } from 'dlx-broker';

@Injectable()
class Readings {
  /** Only the three newest are of interest; the oldest gives way. */
  @Consume({ queue: 'readings', routingKey: 'reading' })
  @Prefetch(1)
  @MaxLength(3)
  @DeadLetter('readings.dropped')
  async handle(@Payload() reading: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    console.log('handled', reading);
  }

  @Consume({ queue: 'readings.old', exchange: 'readings.dropped', routingKey: '#' })
  drop(@Payload() reading: number): void {
    console.log('dropped', reading);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Readings] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
for (let reading = 1; reading <= 6; reading++) app.get(DlxClient).emit('reading', reading);
setTimeout(() => app.close(), 250);
