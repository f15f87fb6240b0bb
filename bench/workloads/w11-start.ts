import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { url } from '../peers/programs.js';
import { freePort, openRedis } from '../peers/redis.js';
import { type Measurement, median, type Workload } from '../workload.js';

const firstMessage = `
  import { createBroker, noProperties } from 'dlx-broker/engine';
  const broker = createBroker();
  const channel = broker.connect().openChannel({
    deliver({ deliveryTag }) { channel.ack(deliveryTag); },
    returned() {}, confirmed() {}, cancelled() {}, closed() {},
  });
  channel.declareQueue('q');
  channel.consume('q');
  channel.publish('', 'q', noProperties, Buffer.from('first'));
  broker.close();
`;

const bareNest = `
  import 'reflect-metadata';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  class AppModule {}
  Module({})(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  await app.close();
`;

const nestFirstMessage = `
  import 'reflect-metadata';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { Consume, DlxBrokerModule, DlxClient } from 'dlx-broker';
  let handled;
  const first = new Promise((resolve) => { handled = resolve; });
  class Worker { handle(data) { handled(data); } }
  Consume({ queue: 'work', routingKey: 'e' })(
    Worker.prototype, 'handle', Object.getOwnPropertyDescriptor(Worker.prototype, 'handle'),
  );
  class AppModule {}
  Module({ imports: [DlxBrokerModule.forRoot()], providers: [Worker] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  app.get(DlxClient).emit('e', 'first');
  await first;
  await app.close();
`;

/** Adds the import that applications with `@Payload` or another of Nest's transports have anyway. */
const withMicroservices = (program: string): string => `import '@nestjs/microservices';\n${program}`;

/** One of Nest's own transports: a microservice, a client, and an event. */
const nestTransport = (transport: string, options: object): string => `
  import 'reflect-metadata';
  import { Controller, Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { ClientProxyFactory, EventPattern, Transport } from '@nestjs/microservices';
  const options = { transport: Transport.${transport}, options: ${JSON.stringify(options)} };
  let handled;
  const first = new Promise((resolve) => { handled = resolve; });
  class Worker { handle(data) { handled(data); } }
  EventPattern('e')(Worker.prototype, 'handle', Object.getOwnPropertyDescriptor(Worker.prototype, 'handle'));
  Controller()(Worker);
  class AppModule {}
  Module({ controllers: [Worker] })(AppModule);
  const app = await NestFactory.createMicroservice(AppModule, { ...options, logger: false });
  await app.listen();
  const client = ClientProxyFactory.create(options);
  await client.connect();
  client.emit('e', 'first');
  await first;
  await client.close();
  await app.close();
`;

async function overRedis(): Promise<Measurement> {
  const { port, stop } = await openRedis();
  const time = processTime(nestTransport('REDIS', { host: '127.0.0.1', port }));
  stop();
  return time;
}

const runs = 9;
/** The folder in which imports of a program are resolved. */
const cwd = fileURLToPath(new URL('.', import.meta.url));

/** Milliseconds and processor time of a whole process, the medians of nine. */
function processTime(program: string): Measurement {
  const times: number[] = [];
  const cpu: number[] = [];
  const tell = `process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    process.stdout.write(String((user + system) / 1000));
  });\n`;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', tell + program], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    times.push(performance.now() - start);
    cpu.push(Number(output));
  }
  return { value: median(times), cpu: median(cpu) * 1_000, extra: { 'CPU ms': median(cpu).toFixed(0) } };
}

export const w11: readonly Workload[] = [
  {
    id: 'W11',
    title: 'a process from its start to its end, with a first message in between',
    unit: 'ms',
    more: 'worse',
    peers: {
      'dlx-broker': () => processTime(firstMessage),
      smqp: () =>
        processTime(`
          import { Broker } from 'smqp';
          const broker = new Broker();
          broker.assertExchange('x', 'direct');
          broker.assertQueue('q');
          broker.bindQueue('q', 'x', 'q');
          broker.consume('q', (_key, message) => message.ack());
          broker.publish('x', 'q', Buffer.from('first'));
        `),
      'node alone': () => processTime(''),
    },
    limits: ['node alone'],
  },
  {
    id: 'W11 Nest',
    title: 'the same with a Nest application',
    unit: 'ms',
    more: 'worse',
    peers: {
      'dlx-broker': () => processTime(nestFirstMessage),
      'bare Nest': () => processTime(bareNest),
      'dlx-broker, and @nestjs/microservices imported': () => processTime(withMicroservices(nestFirstMessage)),
      'bare Nest, and @nestjs/microservices imported': () => processTime(withMicroservices(bareNest)),
      "Nest's TCP": async () => processTime(nestTransport('TCP', { host: '127.0.0.1', port: await freePort() })),
      "Nest's Redis": overRedis,
      "Nest's RabbitMQ": () =>
        processTime(
          nestTransport('RMQ', {
            urls: [url],
            queue: `bench-${process.pid}`,
            queueOptions: { durable: false, autoDelete: true },
          }),
        ),
      'node alone': () => processTime(''),
    },
    needs: { "Nest's Redis": 'redis', "Nest's RabbitMQ": 'rabbitMq' },
    limits: ['bare Nest', 'bare Nest, and @nestjs/microservices imported', 'node alone'],
  },
];
