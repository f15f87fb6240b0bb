import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DlxConfigurationError, optionsOf } from '../../platform/options/index.js';
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
class DlxBrokerFeatureModule {
  /** @throws DlxConfigurationError when a `forFeature` names a broker that does not exist */
  constructor(modules: ModulesContainer) {
    for (const [broker, , place] of featuresIn(modules)) refuseUnknownBroker(modules, broker, place);
  }
}

/** @throws DlxConfigurationError naming the queue, exchange or binding, the setting and a remedy */
export function featureModule(options: DlxFeatureOptions): DynamicModule {
  const remedy = "write { queues: [queue('orders')] }";
  const { broker, ...topology } = optionsOf<DlxFeatureOptions>(options, origin, remedy, featureOptions);
  if (broker !== undefined && typeof broker !== 'string') {
    throw new DlxConfigurationError(`${origin}: broker is no text; write the name that forRoot({ name }) gives it`);
  }
  readTopology(topology, origin);
  // Nest may compare dynamic modules by their metadata as text, so the token has all options.
  const token: InjectionToken = `DlxFeature:${JSON.stringify(options, mapsAsEntries)}`;
  return { module: DlxBrokerFeatureModule, providers: [{ provide: token, useValue: new Feature(options) }] };
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
