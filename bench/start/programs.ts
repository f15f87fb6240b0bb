const handlers = `
  let handled;
  const first = new Promise((resolve) => { handled = resolve; });
  class Worker { handle(data) { handled(data); } }
  Consume({ queue: 'work', routingKey: 'e' })(
    Worker.prototype, 'handle', Object.getOwnPropertyDescriptor(Worker.prototype, 'handle'),
  );`;

/** A Nest application that starts and ends. */
const nest = (imports: string, module: string, before = '', after = ''): string => `
  import 'reflect-metadata';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  ${imports}
  ${before}
  class AppModule {}
  Module({ ${module} })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  ${after}
  await app.close();`;

const ours = `import { Consume, DlxBrokerModule, DlxClient } from 'dlx-broker';`;
const microservices = `import '@nestjs/microservices';`;
const withModule = 'imports: [DlxBrokerModule.forRoot()]';
const withHandler = `${withModule}, providers: [Worker]`;
const oneMessage = `app.get(DlxClient).emit('e', 'first'); await first;`;

/** The least that an application with a transport of its own pays: Nest's base class of servers, and two handlers. */
const customTransport = `
  import 'reflect-metadata';
  import { Controller, Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { MessagePattern, Server } from '@nestjs/microservices';
  class Nothing extends Server { listen(ready) { ready(); } close() {} on() {} unwrap() {} }
  class Worker { first() {} second() {} }
  for (const name of ['first', 'second']) {
    MessagePattern(name)(Worker.prototype, name, Object.getOwnPropertyDescriptor(Worker.prototype, name));
  }
  Controller()(Worker);
  class AppModule {}
  Module({ controllers: [Worker] })(AppModule);
  const app = await NestFactory.createMicroservice(AppModule, { logger: false, strategy: new Nothing() });
  await app.listen();
  await app.close();`;

const importsOf = (packages: readonly string[]): string => packages.map((name) => `import '${name}';`).join('\n');

/** A program, and the program without what is measured. */
export interface Started {
  readonly name: string;
  readonly program: string;
  /** The program of the same list with which it is compared. */
  readonly beside?: string;
}

/**
 * All programs, in the order in which they take turns.
 * @param packages what the package imports at the start of an application: files of Nest, and modules of Node
 */
export const programsWith = (packages: readonly string[]): readonly Started[] => [
  { name: 'node alone', program: '' },
  { name: 'bare Nest', program: nest('', '') },
  {
    name: 'the same, and the files of Nest and Node that the module reads',
    program: nest(importsOf(packages), ''),
    beside: 'bare Nest',
  },
  { name: 'Nest with the module', program: nest(ours, withModule), beside: 'bare Nest' },
  {
    name: 'the same, a handler and a message',
    program: nest(ours, withHandler, handlers, oneMessage),
    beside: 'bare Nest',
  },
  { name: 'Nest with a custom transport', program: customTransport, beside: 'bare Nest' },
  { name: 'bare Nest with @nestjs/microservices', program: nest(microservices, '') },
  {
    name: 'the same, the module, a handler and a message',
    program: nest(`${microservices}\n${ours}`, withHandler, handlers, oneMessage),
    beside: 'bare Nest with @nestjs/microservices',
  },
];

/**
 * Imports the package after all that it imports itself, so that only its own files are measured: reading, compiling and running
 * them. Prints milliseconds of time and of processor time.
 */
export const ownFiles = (packages: readonly string[]): string => `
  ${importsOf(packages)}
  const began = performance.now();
  const before = process.cpuUsage();
  await import('dlx-broker');
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ wall: performance.now() - began, processor: (user + system) / 1000 }));`;
