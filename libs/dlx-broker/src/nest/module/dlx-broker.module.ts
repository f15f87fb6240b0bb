import { type DynamicModule, type InjectionToken, Module, type Provider } from '@nestjs/common';
import { ApplicationConfig, type ContextId, ModuleRef, ModulesContainer } from '@nestjs/core';
import { WaitQueues } from '../retry/index.js';

import { shownText } from '../../platform/index.js';
import { connect } from '../brokers/connect.js';
import { embedded } from '../brokers/embedded.js';
import { DeadLetters, type DeadLettersOptions, type QueueNames, Redrives } from '../streams/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { asyncProviders, type DlxBrokerAsyncOptions } from './async-options.js';
import { type BrokerParts, DlxBroker } from './broker.js';
import { optionsToken } from './broker-names.js';
import { DlxClient } from '../client/client.js';
import { type DlxFeatureOptions, featureModule } from './feature.js';
import { captureErrors } from '../handlers/capture.js';
import { iterateResults } from '../handlers/plain-invoke.js';
import { HandlerSource } from '../handlers/handler-source.js';
import { featureDecorators } from '../features/index.js';
import { hookDeaths } from '../death-hooks/hook-deaths.js';
import { EventLog } from '../log/event-log.js';
import { errorFacts, logSubscriberError, stackOf, textOf } from '../core/failure-log.js';
import { beginsFirst, beginsLast, Lifecycle } from './lifecycle.js';
import {
  checkOptions,
  type Connected,
  defaultBrokerName,
  type DlxBrokerModuleExtras,
  type DlxBrokerOptions,
  resolveOptions,
  waitQueueTypeOf,
} from './options.js';
import { OutboxScope } from '../features/outbox/scope.js';
import { OutcomeEvents } from '../core/outcome-events.js';
import { SafeTracing } from '../tracing/index.js';
import { noticesOf } from './notices.js';
import { DlxServer } from './server.js';
import { StartGate } from '../client/client-state.js';
import { getDlxToken, getDlxConnectedToken } from './tokens.js';

/** The broker itself: global by default. */
@Module({})
class DlxBrokerCoreModule {}

/**
 * A broker in a Nest application. Importing it is enough for handlers with `@Consume`; `@EventPattern` and
 * `@MessagePattern` need its {@link DlxServer} as a transport strategy. It keeps nothing outside of the application.
 */
@Module({})
export class DlxBrokerModule {
  /** @throws DlxConfigurationError when the class itself is imported, and no module of the application calls `forRoot` */
  constructor(modules: ModulesContainer) {
    if ([...modules.values()].some(({ metatype }) => metatype === DlxBrokerCoreModule)) return;
    throw new DlxConfigurationError(
      'DlxBrokerModule is imported without a broker: write imports: [DlxBrokerModule.forRoot()] in the root module',
    );
  }

  /**
   * Brings a broker into the application.
   * @throws DlxConfigurationError naming the option and the value
   */
  static forRoot(options: DlxBrokerOptions & DlxBrokerModuleExtras = {}): DynamicModule {
    checkOptions(options, nameIn(options));
    return moduleOf(coreModule(options, { provide: optionsToken(options.name), useValue: options }), options);
  }

  /**
   * Brings a broker into the application, with options from a function (`useFactory`), from a class that is made for it (`useClass`),
   * or from a provider that exists (`useExisting`).
   * @throws DlxConfigurationError for a value that is none of these; the options are checked when the application starts
   */
  static forRootAsync(options: DlxBrokerAsyncOptions): DynamicModule {
    const { providers, imports } = asyncProviders(options);
    return moduleOf({ ...coreModule(options, ...providers), imports }, options);
  }

  /**
   * Declarations of a feature module, besides those of its handlers: `forFeature({ queues: [queue('x')] })`. The root module needs
   * a broker (`forRoot`).
   * @throws DlxConfigurationError naming the queue, exchange or binding, the setting and a remedy
   */
  static forFeature(options: DlxFeatureOptions): DynamicModule {
    return featureModule(options);
  }
}

const nameIn = (options: unknown): string => ((options ?? {}) as { readonly name?: string }).name ?? defaultBrokerName;

function moduleOf(core: DynamicModule, { name }: DlxBrokerModuleExtras): DynamicModule {
  const lifecycle: Provider = {
    provide: Lifecycle,
    inject: [getDlxToken(DlxBroker, name), ModulesContainer],
    useFactory: (broker: DlxBroker, modules: ModulesContainer) => {
      for (const module of modules.values()) {
        if (module.metatype === DlxBrokerCoreModule) beginsFirst(module);
        if (module.metatype === DlxBrokerModule) beginsLast(module);
      }
      return new Lifecycle(broker);
    },
  };
  return { module: DlxBrokerModule, imports: [core], providers: [lifecycle], exports: [core] };
}

type Logging = DlxBrokerOptions['logging'];

/** Logs failures of a pipeline. If it restarts, the reason is logged once, and then the number of failures at 10, at 100 ... */
const reportsOf = (name: string, logging: Logging): Pick<DeadLettersOptions, 'report' | 'endFailed'> => {
  const log = new EventLog(`DeadLetters ${name}`, logging);
  const shown = (queues: QueueNames): string => shownText(String(queues));
  return {
    report: (failure, names, { times, pause, isNew }) => {
      const queues = shown(names);
      if (isNew) {
        const text = `the pipeline of ${queues} failed and restarts in ${pause} ms: ${textOf(failure)}`;
        log.write('pipelineFailed', text, { queues, pause, ...errorFacts(failure) }, stackOf(failure));
      } else if (Number.isInteger(Math.log10(times))) {
        const text = `the pipeline of ${queues} failed ${times} times in a row; it restarts in ${pause} ms`;
        log.write('pipelineFailing', text, { queues, times, pause });
      }
    },
    endFailed: (failure, names) => {
      const queues = shown(names);
      const text = `the pipeline of ${queues} has ended, and threw an error: ${textOf(failure)}`;
      log.write('pipelineEnded', text, { queues, ...errorFacts(failure) }, stackOf(failure));
    },
  };
};

function reportObserver(name: string, logging: Logging, failure: unknown): void {
  const text = `the function that looks at the tasks of a schedule failed: ${textOf(failure)}`;
  new EventLog(`Redrives ${name}`, logging).write('observerFailed', text, errorFacts(failure), stackOf(failure));
}

function reportSchedule(name: string, logging: Logging, failure: unknown, queues: string): void {
  const text = `the redrive of ${queues} by a schedule failed, which the schedule tries again: ${textOf(failure)}`;
  new EventLog(`Redrives ${name}`, logging).write('redriveFailed', text, { queues, ...errorFacts(failure) });
}

/** The tracing of the application, which cannot fail a message. An object, because a provider is never undefined. */
interface MaybeTracing {
  readonly tracing?: SafeTracing;
}

function safely({ tracing, logging }: DlxBrokerOptions, name: string): MaybeTracing {
  if (tracing === undefined) return {};
  const log = new EventLog(`DlxTracing ${name}`, logging);
  const report = (failure: unknown): void => {
    const text = `tracing failed, and messages are handled without it; further failures are not logged: ${textOf(failure)}`;
    log.write('tracingFailed', text, errorFacts(failure));
  };
  return { tracing: new SafeTracing(tracing, report) };
}

function coreModule(
  { name = defaultBrokerName, isGlobal = true }: DlxBrokerModuleExtras,
  ...options: readonly Provider[]
): DynamicModule {
  const [broker, client, server] = [
    getDlxToken(DlxBroker, name),
    getDlxToken(DlxClient, name),
    getDlxToken(DlxServer, name),
  ];
  const connected = getDlxConnectedToken(name);
  const given = optionsToken(name);
  const deadLetters = getDlxToken(DeadLetters, name);
  const waitQueuesToken = `DlxWaitQueues:${name}`;
  const events = `DlxOutcomeEvents:${name}`;
  const redrives = getDlxToken(Redrives, name);
  const tracing = `DlxTracing:${name}`;
  const outboxes = `DlxOutboxes:${name}`;
  const providers: Provider[] = [
    ...options,
    {
      provide: connected,
      inject: [given],
      useFactory: ({ broker = embedded(), logging }: DlxBrokerOptions) => connect(broker, logging),
    },
    { provide: server, useFactory: () => new DlxServer(name) },
    { provide: outboxes, useFactory: () => new OutboxScope() },
    { provide: tracing, inject: [given], useFactory: (options: DlxBrokerOptions) => safely(options, name) },
    {
      provide: client,
      inject: [given, connected, tracing, outboxes],
      useFactory: (options: DlxBrokerOptions, { backend }: Connected, tracing: MaybeTracing, outboxes: OutboxScope) => {
        const { events, requests, envelope, logging } = resolveOptions(options, name);
        const waitQueueType = waitQueueTypeOf(options);
        const places = { events: events.name, requests: requests.name };
        const gate = new StartGate(backend.clock);
        return new DlxClient({ backend, ...places, waitQueueType, envelope, logging, outboxes, gate, ...tracing });
      },
    },
    {
      provide: waitQueuesToken,
      inject: [given, connected],
      useFactory: (options: DlxBrokerOptions, { backend }: Connected) =>
        new WaitQueues(backend, waitQueueTypeOf(options), '', noticesOf(options, backend, name)),
    },
    {
      provide: events,
      inject: [given, connected],
      useFactory: ({ logging }: DlxBrokerOptions, { backend }: Connected) =>
        new OutcomeEvents(backend, logSubscriberError(new EventLog(`DlxBroker ${name}`, logging), 'the events')),
    },
    {
      provide: deadLetters,
      inject: [given, connected, waitQueuesToken, events, tracing],
      useFactory: (
        options: DlxBrokerOptions,
        { backend }: Connected,
        waitQueues: WaitQueues,
        events: OutcomeEvents,
        tracing: MaybeTracing,
      ) =>
        new DeadLetters(backend, {
          waitQueues,
          errorHistory: resolveOptions(options, name).errorHistory,
          ...tracing,
          ...reportsOf(name, options.logging),
          settled: (...letter) => events.ofLetter(...letter),
          unanswered: () => events.letters.unanswered++,
        }),
    },
    {
      provide: redrives,
      inject: [given, connected, deadLetters],
      useFactory: ({ logging }: DlxBrokerOptions, { backend }: Connected, letters: DeadLetters) =>
        new Redrives(
          backend,
          letters,
          (failure) => reportObserver(name, logging, failure),
          logSubscriberError(new EventLog(`Redrives ${name}`, logging), 'a redrive'),
          (failure, queues) => reportSchedule(name, logging, failure, shownText(queues.join(', '))),
        ),
    },
    {
      provide: broker,
      inject: [
        given,
        connected,
        server,
        client,
        waitQueuesToken,
        events,
        deadLetters,
        redrives,
        tracing,
        outboxes,
        ModulesContainer,
        ApplicationConfig,
        ModuleRef,
      ],
      useFactory: (
        options: DlxBrokerOptions,
        connected: Connected,
        server: DlxServer,
        client: DlxClient,
        waitQueues: WaitQueues,
        events: OutcomeEvents,
        letters: DeadLetters,
        redrives: Redrives,
        { tracing }: MaybeTracing,
        outboxes: OutboxScope,
        modules: ModulesContainer,
        config: ApplicationConfig,
        moduleRef: ModuleRef,
      ) => {
        refuseNamesake(modules, broker, name);
        captureErrors(config);
        iterateResults();
        const register = (request: unknown, contextId: ContextId): void =>
          moduleRef.registerRequestByContextId(request, contextId);
        const hook = (): void => hookDeaths(modules, name, connected.backend, events, options.logging);
        const source = new HandlerSource(name, modules, config, register, featureDecorators, hook);
        const provider: BrokerParts['provider'] = (type) => moduleRef.get(type, { strict: false });
        const parts = { client, waitQueues, events, letters, redrives, outboxes, tracing, provider };
        return new DlxBroker(resolveOptions(options, name), connected, server, source, parts);
      },
    },
  ];
  return {
    module: DlxBrokerCoreModule,
    global: isGlobal,
    providers,
    exports: [broker, client, server, deadLetters, redrives],
  };
}

/** Refuses two brokers of one name. Both would consume for the same handlers. */
function refuseNamesake(modules: ModulesContainer, token: InjectionToken, name: string): void {
  const brokers = [...modules.values()].filter(
    ({ metatype, providers }) => metatype === DlxBrokerCoreModule && providers.has(token),
  );
  if (brokers.length < 2) return;
  const remedy = `import forRoot() once, in the root module, or give each its name: forRoot({ name: 'audit' })`;
  throw new DlxConfigurationError(`DlxBrokerModule: there are ${brokers.length} brokers '${name}'; ${remedy}`);
}
