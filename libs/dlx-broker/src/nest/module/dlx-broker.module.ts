import { type DynamicModule, type InjectionToken, Module, type Provider } from '@nestjs/common';
import { ApplicationConfig, type ContextId, ModuleRef, ModulesContainer } from '@nestjs/core';
import { connect } from '../brokers/connect.js';
import { embedded } from '../brokers/embedded.js';
import { DeadLetters, Redrives } from '../streams/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { asyncProviders, type DlxBrokerAsyncOptions } from './async-options.js';
import { type BrokerParts, DlxBroker } from './broker.js';
import { optionsToken } from './broker-names.js';
import { DlxClient } from '../client/client.js';
import { asyncFeatureModule, type DlxFeatureAsyncOptions, type DlxFeatureOptions, featureModule } from './feature.js';
import type { Above } from '../handlers/above.js';
import { captureErrors } from '../handlers/capture.js';
import { iterateResults } from '../handlers/plain-invoke.js';
import { HandlerSource } from '../handlers/handler-source.js';
import { featureDecorators } from '../features/index.js';
import { hookDeaths } from '../death-hooks/hook-deaths.js';
import { beginsFirst, beginsLast, Lifecycle } from './lifecycle.js';
import {
  checkOptions,
  type Connected,
  defaultBrokerName,
  type DlxBrokerModuleExtras,
  type DlxBrokerOptions,
  resolveOptions,
} from './options.js';
import { makeParts } from './parts.js';
import { DlxServer } from './server.js';
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

  /**
   * Declarations of a feature module from a function: `forFeatureAsync({ inject: [ConfigService], useFactory: (config) => ({ queues: [...] }) })`.
   * @throws DlxConfigurationError for wrong options; those that the function returns are checked when the application starts
   */
  static forFeatureAsync(options: DlxFeatureAsyncOptions): DynamicModule {
    return asyncFeatureModule(options);
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

/** The classes that other modules may inject. */
const provided = [DlxBroker, DlxClient, DlxServer, DeadLetters, Redrives] as const;

/** Makes a broker once, with all that it provides: each class has a token of its own, and its provider picks the instance. */
function coreModule(
  { name = defaultBrokerName, isGlobal = true }: DlxBrokerModuleExtras,
  ...options: readonly Provider[]
): DynamicModule {
  const given = optionsToken(name);
  const connected = getDlxConnectedToken(name);
  const made = `DlxBrokerParts:${name}`;
  const providers: Provider[] = [
    ...options,
    {
      provide: connected,
      inject: [given],
      useFactory: ({ broker = embedded(), logging }: DlxBrokerOptions) => connect(broker, logging),
    },
    {
      provide: made,
      inject: [given, connected, ModulesContainer, ApplicationConfig, ModuleRef],
      useFactory: (
        given: DlxBrokerOptions,
        connected: Connected,
        modules: ModulesContainer,
        config: ApplicationConfig,
        moduleRef: ModuleRef,
      ) => {
        refuseNamesake(modules, getDlxToken(DlxBroker, name), name);
        captureErrors(config);
        iterateResults();
        const options = resolveOptions(given, name);
        const parts = makeParts(options, connected.backend);
        const register = (request: unknown, contextId: ContextId): void =>
          moduleRef.registerRequestByContextId(request, contextId);
        const hook = (above: Above): void =>
          hookDeaths(modules, above, name, connected.backend, parts.events, options.logging);
        const source = new HandlerSource(
          name,
          modules,
          config,
          register,
          featureDecorators,
          options.registerHandlers ? hook : undefined,
        );
        const provider: BrokerParts['provider'] = (type) => moduleRef.get(type, { strict: false });
        const server = new DlxServer(name);
        const broker = new DlxBroker(options, connected, server, source, { ...parts, provider });
        return [broker, parts.client, server, parts.letters, parts.redrives];
      },
    },
    ...provided.map((part) => ({
      provide: getDlxToken(part, name),
      inject: [made],
      useFactory: (instances: readonly object[]) => instances.find((each) => each instanceof part),
    })),
  ];
  const exports = provided.map((part) => getDlxToken(part, name));
  return { module: DlxBrokerCoreModule, global: isGlobal, providers, exports };
}

/** Refuses two brokers of one name. Both would consume for the same handlers. */
function refuseNamesake(modules: ModulesContainer, token: InjectionToken, name: string): void {
  const brokers = [...modules.values()].filter(
    ({ metatype, providers }) => metatype === DlxBrokerCoreModule && providers.has(token),
  );
  if (brokers.length < 2) return;
  const remedy =
    `import forRoot() once, in the root module, or give each its name: forRoot({ name: 'audit' }). ` +
    `DlxTesting adds one: start a module that has its own by startModule(Test.createTestingModule({ imports: [AppModule] }))`;
  throw new DlxConfigurationError(`DlxBrokerModule: there are ${brokers.length} brokers '${name}'; ${remedy}`);
}
