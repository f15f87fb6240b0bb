import {
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  Module,
  type ModuleMetadata,
  type OnModuleInit,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DlxConfigurationError, optionsOf, refused } from '../../platform/options/index.js';
import { type Contributions, readTopology, type TopologyOption } from '../../backends/topology/index.js';
import { refuseUnknownBroker } from './broker-names.js';
import type { Module as NestModule } from '../handlers/nest-versions.js';
import { defaultBrokerName } from './options.js';

/** The declarations of a feature module, besides those of its handlers. */
export interface DlxFeatureOptions extends TopologyOption {
  /** The name of the broker, if the application has several. */
  readonly broker?: string;
}

const featureOptions = ['queues', 'exchanges', 'bindings', 'broker'] as const;

/** The declarations of one `forFeature`, as a provider of the application. */
export class Feature {
  constructor(readonly options: DlxFeatureOptions) {}
}

@Module({})
class DlxBrokerFeatureModule implements OnModuleInit {
  /** @throws DlxConfigurationError when a `forFeature` names a broker that does not exist */
  constructor(private readonly modules: ModulesContainer) {
    this.onModuleInit();
  }

  /** Checks those of `forFeatureAsync` as well: their functions have returned. */
  onModuleInit(): void {
    for (const [broker, , place] of featuresIn(this.modules)) refuseUnknownBroker(this.modules, broker, place);
  }
}

/** Where {@link DlxBrokerModule.forFeatureAsync} gets its declarations. */
export interface DlxFeatureAsyncOptions extends Pick<DlxFeatureOptions, 'broker'>, Pick<ModuleMetadata, 'imports'> {
  /** What `useFactory` gets. */
  readonly inject?: FactoryProvider['inject'];
  // eslint-disable-next-line typescript/no-explicit-any -- the user chooses what is injected
  readonly useFactory: (...injected: any[]) => TopologyOption | Promise<TopologyOption>;
}

const remedy = "write { queues: [queue('orders')] }";

/** @throws DlxConfigurationError naming the queue, exchange or binding, the setting and a remedy */
export function featureModule(options: DlxFeatureOptions): DynamicModule {
  const { broker, ...topology } = optionsOf<DlxFeatureOptions>(options, origin, remedy, featureOptions);
  checkBroker(broker, origin);
  readTopology(topology, origin);
  // Nest may compare dynamic modules by their metadata as text, so the token has all options.
  return moduleOf(JSON.stringify(options, mapsAsEntries), { useValue: new Feature(options) });
}

const asyncOrigin = 'forFeatureAsync of DlxBrokerModule';
let asyncModules = 0;

/** @throws DlxConfigurationError for wrong options; at the start for those that the function returns */
export function asyncFeatureModule(options: DlxFeatureAsyncOptions): DynamicModule {
  const advice = `write { inject: [ConfigService], useFactory: (config) => ({ queues: [queue(config.getOrThrow('QUEUE'))] }) }`;
  const known = ['imports', 'inject', 'useFactory', 'broker'] as const;
  const {
    imports = [],
    inject = [],
    useFactory,
    broker,
  } = optionsOf<DlxFeatureAsyncOptions>(options, asyncOrigin, advice, known);
  checkBroker(broker, asyncOrigin);
  if (typeof useFactory !== 'function') {
    throw refused(useFactory, `useFactory of ${asyncOrigin}`, `is not a function; ${advice}`);
  }
  const make = async (...injected: unknown[]): Promise<Feature> => {
    const topology = await useFactory(...injected);
    optionsOf(topology, `useFactory of ${asyncOrigin}`, remedy, featureOptions.slice(0, 3));
    return new Feature({ ...topology, ...(broker !== undefined && { broker }) });
  };
  return { ...moduleOf(`async:${++asyncModules}`, { inject, useFactory: make }), imports };
}

const moduleOf = (name: string, provider: { useValue: Feature } | Omit<FactoryProvider, 'provide'>): DynamicModule => {
  const provide: InjectionToken = `DlxFeature:${name}`;
  return { module: DlxBrokerFeatureModule, providers: [{ provide, ...provider }] };
};

function checkBroker(broker: unknown, origin: string): void {
  if (broker === undefined || typeof broker === 'string') return;
  throw new DlxConfigurationError(`${origin}: broker is no text; write the name that forRoot({ name }) gives it`);
}

const origin = 'forFeature of DlxBrokerModule';

const mapsAsEntries = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Map ? [...(value as ReadonlyMap<string, unknown>)] : value;
};

/** The declarations of all `forFeature` for a broker, in the order of the modules. */
export function featuresOf(modules: ModulesContainer, broker: string): readonly Required<Contributions>[] {
  return [...featuresIn(modules)]
    .filter(([asked]) => asked === broker)
    .map(([, topology, place]) => readTopology(topology, place));
}

/** All `forFeature`: the name of the broker, the declarations, and the place for errors. */
function* featuresIn(modules: ModulesContainer): Iterable<readonly [broker: string, TopologyOption, place: string]> {
  for (const module of modules.values()) {
    if (module.metatype !== DlxBrokerFeatureModule) continue;
    for (const { instance } of module.providers.values()) {
      if (!(instance instanceof Feature)) continue;
      const { broker = defaultBrokerName, ...topology } = instance.options;
      yield [broker, topology, placeOf(modules, module)];
    }
  }
}

/** The modules that import a `forFeature`, for errors. */
function placeOf(modules: ModulesContainer, feature: NestModule): string {
  const importers = [...modules.values()].filter(({ imports }) => imports.has(feature)).map(({ name }) => name);
  return `forFeature in ${importers.join(', ') || 'a module'}`;
}
