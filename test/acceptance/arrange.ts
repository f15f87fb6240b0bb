import { Injectable, type INestMicroservice, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxClient, DlxContext, DlxRecordBuilder, type Topology } from 'dlx-broker';
import type { DlxRecordOptions } from '../../libs/dlx-broker/src/nest/client/record-builder.js';
import type { BindingDeclaration, ExchangeType } from '../../libs/dlx-broker/src/backends/topology/index.js';
import { toFieldTable } from 'dlx-broker/engine';
import { DlxTesting, type DlxTestingOptions, type TransportOptions } from 'dlx-broker/testing';
import { lastValueFrom } from 'rxjs';
import { afterEach } from 'vitest';

export const noon = Date.UTC(2026, 0, 1, 12);

/** A message that reached the end of its way. */
export interface Body {
  readonly data: unknown;
  readonly context: DlxContext;
}

/** Handles whatever comes to the queue `dead`, to which the exchange `dlx` brings everything. */
@Injectable()
export class Morgue {
  readonly bodies: Body[] = [];

  @Consume({ queue: 'dead', exchange: 'dlx', routingKey: '#' })
  take(@Payload() data: unknown, @Ctx() context: DlxContext): void {
    this.bodies.push({ data, context });
  }
}

/** A provider with a handler of the queue `work`, which the exchange of events brings what is published as `work`. */
export function worker(handle: (data: unknown, context: DlxContext) => unknown, ...above: MethodDecorator[]): Type {
  @Injectable()
  class Worker {
    @Consume({ queue: 'work', routingKey: 'work' })
    work(@Payload() data: unknown, @Ctx() context: DlxContext): unknown {
      return handle(data, context);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'work')!;
  for (const decorate of above) decorate(Worker.prototype, 'work', descriptor);
  return Worker;
}

export const fails = (): never => {
  throw new Error('no');
};

/** No handler consumes these queues. */
export interface Queues {
  readonly [name: string]: Readonly<Record<string, string | number>>;
}

export interface Given {
  readonly providers?: readonly Type[];
  readonly exchanges?: Readonly<Record<string, ExchangeType>>;
  readonly queues?: Queues;
  /** From an exchange to a queue by a key. */
  readonly bindings?: readonly (readonly [
    exchange: string,
    queue: string,
    key?: string,
    args?: Record<string, string>,
  ])[];
  /** Queues whose handlers keep what they get. */
  readonly busy?: readonly string[];
  readonly options?: TransportOptions;
}

/** What is declared beside what handlers need. */
export function topologyOf({ exchanges = {}, queues = {}, bindings = [] }: Given): Topology {
  const common = { durable: true, autoDelete: false };
  const table = toFieldTable({});
  const destinationType = 'queue' as const;
  return {
    exchanges: Object.entries(exchanges).map(([name, type]) => {
      return { ...common, name, type, internal: false, arguments: table };
    }),
    queues: Object.entries(queues).map(([name, args]) => {
      return { ...common, name, exclusive: false, arguments: toFieldTable(args) };
    }),
    bindings: bindings.map(([source, destination, routingKey = '', args = {}]): BindingDeclaration => {
      return { source, destination, destinationType, routingKey, arguments: toFieldTable(args) };
    }),
  };
}

const running: DlxTesting[] = [];
afterEach(async () => {
  for (const dlx of running.splice(0)) await dlx.close();
});

/** A broker that stands still, not yet with an application: for policies and users to be there before it. */
export function standing(options: DlxTestingOptions = {}): DlxTesting {
  const dlx = new DlxTesting({ logger: false, start: noon, ...options });
  running.push(dlx);
  return dlx;
}

export interface Shop {
  readonly dlx: DlxTesting;
  readonly app: INestMicroservice;
  /** Publishes as a client does, by default to the exchange of events; then all pending work is done. */
  emit(key: string, data: unknown, options?: DlxRecordOptions): Promise<void>;
  advance(duration: number | string): Promise<void>;
  /** What the morgue has, in order of arrival. */
  bodies(): readonly Body[];
}

/** A Nest application of these parts, in virtual time. */
export async function shop(given: Given = {}, dlx: DlxTesting = standing()): Promise<Shop> {
  const providers = [...(given.providers ?? [Morgue])];
  const { busy: except = [], options } = given;
  const drainTimeout = except.length > 0 ? 0 : 2_000;
  const app = await dlx.start({ providers }, { topology: topologyOf(given), drainTimeout, ...options });
  return {
    dlx,
    app,
    async emit(key, data, options) {
      const record = new DlxRecordBuilder(data, options).build();
      await lastValueFrom(app.get(DlxClient).emit(key, record), { defaultValue: undefined });
      await dlx.settled({ except });
    },
    advance: (duration) => dlx.advance(duration, { except }),
    bodies: () => app.get(Morgue).bodies,
  };
}

/** By the default exchange: the key is the name of a queue. */
export const direct: DlxRecordOptions = { exchange: '' };
