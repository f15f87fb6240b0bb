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
import { Consume, DlxBrokerModule, DlxContext, DlxServer, type DlxBrokerOptions } from 'dlx-broker';
import type { Plain } from 'dlx-broker/engine';
import { afterEach } from 'vitest';

const quiet = { logger: false as const };

export interface Parts {
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Type[];
  readonly imports?: readonly DynamicModule[];
  readonly options?: DlxBrokerOptions;
}

function rootModule({ controllers = [], providers = [], imports, options }: Parts): Type {
  @Module({
    imports: [...(imports ?? [DlxBrokerModule.forRoot(options)])],
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

/** A class with one handler of `work`, decorated as a user would write it. */
export function handlerOf(
  kind: Kind,
  handle: (data: unknown) => unknown,
  above: readonly MethodDecorator[],
  scoped = false,
): Type {
  class Worker {
    work(data: unknown): unknown {
      return handle(data);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'work')!;
  const entry = kind === 'Consume' ? Consume({ routingKey: 'work' }) : EventPattern<string>('work');
  for (const decorate of [entry, ...above]) decorate(Worker.prototype, 'work', descriptor as never);
  const scope = scoped ? { scope: 2 as const } : {};
  (kind === 'Consume' ? Injectable(scope) : Controller(scope))(Worker);
  return Worker;
}
