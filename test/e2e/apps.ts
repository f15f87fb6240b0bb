import {
  Controller,
  Injectable,
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Ctx,
  EventPattern,
  Payload,
  type AsyncMicroserviceOptions,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { binding, Consume, DlxBrokerModule, DlxContext, DlxServer, queue, type DlxBrokerOptions } from 'dlx-broker';
import type { Plain } from 'dlx-broker/engine';
import { afterAll, afterEach } from 'vitest';
import { here, keepBrokers } from './places.js';

const quiet = { logger: false as const };

export interface Parts {
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Type[];
  readonly imports?: readonly DynamicModule[];
  readonly options?: DlxBrokerOptions;
}

function rootModule({ controllers = [], providers = [], imports, options }: Parts): Type {
  @Module({
    imports: [...(imports ?? [DlxBrokerModule.forRoot(here(options))])],
    controllers: [...controllers],
    providers: [...providers],
  })
  class AppModule {}
  return AppModule;
}

const open: INestApplicationContext[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});
const kept: INestApplicationContext[] = [];
afterAll(async () => {
  for (const app of kept.splice(0)) await app.close();
});

/** Keeps the applications that `beforeAll` started until the end of the file. */
export function keepApps(): void {
  kept.push(...open.splice(0));
  keepBrokers();
}

/** An application without any transport or server. */
export async function contextApp(parts: Parts): Promise<INestApplicationContext> {
  const app = await NestFactory.createApplicationContext(rootModule(parts), { ...quiet, abortOnError: false });
  open.push(app);
  return app;
}

/** A microservice and nothing else. */
export async function microservice(parts: Parts): Promise<INestApplicationContext> {
  const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(rootModule(parts), {
    ...quiet,
    abortOnError: false,
    inject: [DlxServer],
    useFactory: (server: DlxServer) => ({ strategy: server }),
  });
  open.push(app);
  await app.listen();
  return app;
}

/** An HTTP application with our transport connected to it. */
export async function hybrid(
  parts: Parts,
  inheritAppConfig = true,
  startFirst = false,
): Promise<INestApplicationContext> {
  const app = await NestFactory.create(rootModule(parts), { ...quiet, abortOnError: false });
  open.push(app);
  app.connectMicroservice<MicroserviceOptions>({ strategy: app.get(DlxServer) }, { inheritAppConfig });
  if (startFirst) await app.startAllMicroservices();
  await app.init();
  if (!startFirst) await app.startAllMicroservices();
  return app;
}

/** A message that arrived at the morgue. */
export interface Body {
  readonly data: unknown;
  readonly headers: Readonly<Record<string, Plain>>;
  readonly context: DlxContext;
}

/** A module that declares a queue with its exchange and binding. */
@Module({
  imports: [
    DlxBrokerModule.forFeature({
      exchanges: ['parcels'],
      queues: [queue('parcels.late', { ttl: '1h' })],
      bindings: [binding('parcels', 'parcels.late', '#')],
    }),
  ],
})
export class ParcelsModule {}

/** Takes whatever dies into the exchange `dlx`. */
@Injectable()
export class Morgue {
  readonly bodies: Body[] = [];

  @Consume({ queue: 'dead', exchange: 'dlx', routingKey: '#' })
  take(@Payload() data: unknown, @Ctx() context: DlxContext): void {
    this.bodies.push({ data, headers: context.headers, context });
  }
}

/** One way to become a handler: `@EventPattern` on a controller, or `@Consume` on a provider. */
export type Kind = 'EventPattern' | 'Consume';

/** How the class of one handler differs from `Worker`, whose handler takes the routing key `work`. */
interface Naming {
  readonly scoped?: boolean;
  readonly name?: string;
  readonly routingKey?: string;
}

/** A class with one handler, decorated as a user would write it. */
export function handlerOf(
  kind: Kind,
  handle: (data: unknown) => unknown,
  above: readonly MethodDecorator[],
  { scoped = false, name = 'Worker', routingKey = 'work' }: Naming = {},
): Type {
  class Worker {
    work(data: unknown): unknown {
      return handle(data);
    }
  }
  Object.defineProperty(Worker, 'name', { value: name });
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'work')!;
  const entry = kind === 'Consume' ? Consume({ routingKey }) : EventPattern<string>(routingKey);
  for (const decorate of [entry, ...above]) decorate(Worker.prototype, 'work', descriptor as never);
  const scope = scoped ? { scope: 2 as const } : {};
  (kind === 'Consume' ? Injectable(scope) : Controller(scope))(Worker);
  return Worker;
}
