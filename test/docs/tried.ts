import type { DynamicModule, INestApplication, LoggerService, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DlxBrokerModule, DlxClient, DlxServer, sharedBroker, type DlxBrokerOptions } from 'dlx-broker';
import { harness } from 'dlx-broker/testing';
import { setImmediate as soon } from 'node:timers/promises';
import { vi } from 'vitest';

interface Parts {
  readonly controllers?: Type[];
  readonly providers?: NonNullable<DynamicModule['providers']>;
  /** Further modules. */
  readonly imports?: readonly Type[];
  readonly options?: DlxBrokerOptions;
  /** Whether the application connects a `DlxServer`, and starts it. */
  readonly server?: 'started' | 'unstarted';
  /** Without it, a `DlxServer` has no filters and pipes of the application. */
  readonly inheritAppConfig?: boolean;
}

/** An application in a test, and its log. */
export interface Tried {
  readonly app: INestApplication;
  readonly client: DlxClient;
  readonly clock: ReturnType<typeof harness>['clock'];
  readonly broker: ReturnType<typeof harness>['broker'];
  /** The lines of the log, as `WARN text`. */
  readonly lines: string[];
  /** Lets handlers and the log go on. */
  settle(): Promise<void>;
}

/** Starts an application on a broker in virtual time. Its timers of real time are vitest's. */
export async function tryApp(parts: Parts, opened: { close(): Promise<void> }[]): Promise<Tried> {
  const { controllers = [], providers = [], imports: more = [], options = {}, server, inheritAppConfig = true } = parts;
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (text: unknown, ...more: unknown[]): void =>
      void (String(more.at(-1)).startsWith('Dlx') && lines.push(`${level} ${String(text)}`));
  const logger: LoggerService = { log: keep('LOG'), warn: keep('WARN'), error: keep('ERROR') };
  const here = harness();
  const imports = [DlxBrokerModule.forRoot({ broker: sharedBroker(here.broker), ...options }), ...more];
  const builder = Test.createTestingModule({ imports, controllers, providers });
  builder.setLogger(logger);
  const app = (await builder.compile()).createNestApplication();
  opened.push(app);
  if (server !== undefined) app.connectMicroservice({ strategy: app.get(DlxServer) }, { inheritAppConfig });
  await app.init();
  if (server === 'started') await app.startAllMicroservices();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await soon();
  };
  return { ...here, app, client: app.get(DlxClient), lines, settle };
}

/** Lets the second pass in which an application may still connect and start its server. */
export const passFirstSecond = (): unknown => vi.advanceTimersByTime(1_000);
