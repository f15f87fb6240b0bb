import type { FactoryProvider, InjectionToken, ModuleMetadata, Provider, Type } from '@nestjs/common';
import { DlxConfigurationError, optionsOf, refused } from '../../platform/options/index.js';
import { optionsToken } from './broker-names.js';
import { checkOptions, defaultBrokerName, type DlxBrokerModuleExtras, type DlxBrokerOptions } from './options.js';

/** Makes the options of a broker, for `useClass` and `useExisting` of {@link DlxBrokerModule.forRootAsync}. */
export interface DlxBrokerOptionsFactory {
  createDlxBrokerOptions(): DlxBrokerOptions | Promise<DlxBrokerOptions>;
}

/** Where {@link DlxBrokerModule.forRootAsync} gets its options: one of `useFactory`, `useClass` and `useExisting`. */
export interface DlxBrokerAsyncOptions extends DlxBrokerModuleExtras, Pick<ModuleMetadata, 'imports'> {
  /** What `useFactory` gets. */
  readonly inject?: FactoryProvider['inject'];
  /** A function that returns the options. */
  // eslint-disable-next-line typescript/no-explicit-any -- the user chooses what is injected
  readonly useFactory?: (...injected: any[]) => DlxBrokerOptions | Promise<DlxBrokerOptions>;
  /** A class that is made for this broker, with its dependencies injected. */
  readonly useClass?: Type<DlxBrokerOptionsFactory>;
  /** A provider of a module in `imports`, or of a global module. */
  readonly useExisting?: InjectionToken<DlxBrokerOptionsFactory>;
}

const sources = ['useFactory', 'useClass', 'useExisting'] as const;
const asyncOptions = ['inject', ...sources, 'imports', 'name', 'isGlobal'] as const;

const origin = 'forRootAsync of DlxBrokerModule';

/**
 * The providers of the options.
 * @throws DlxConfigurationError for a value that is no source of options, for none, and for several
 */
export function asyncProviders(options: DlxBrokerAsyncOptions): {
  readonly providers: readonly [Provider, ...Provider[]];
  readonly imports: NonNullable<ModuleMetadata['imports']>;
} {
  const remedy = 'write { inject: [ConfigService], useFactory: (config) => ({}) }';
  optionsOf<DlxBrokerAsyncOptions>(options, origin, remedy, asyncOptions);
  const { name = defaultBrokerName, isGlobal, imports = [], inject = [], useFactory, useClass, useExisting } = options;
  checkOptions({ ...(options.name !== undefined && { name }), ...(isGlobal !== undefined && { isGlobal }) }, name);
  const token = optionsToken(options.name);
  const chosen = sources.filter((source) => options[source] !== undefined);
  if (chosen.length > 1) {
    throw new DlxConfigurationError(`${origin}: ${chosen.join(' and ')} exclude one another; keep one of them`);
  }
  if (useClass !== undefined) {
    if (typeof useClass !== 'function') throw refused(useClass, `useClass of ${origin}`, 'is not a class');
    const own = `DlxBrokerOptionsFactory:${name}`;
    const provider: Provider = { provide: token, inject: [own], useFactory: checked(name, 'useClass') };
    return { providers: [provider, { provide: own, useClass }], imports };
  }
  if (useExisting !== undefined) {
    const provider: Provider = { provide: token, inject: [useExisting], useFactory: checked(name, 'useExisting') };
    return { providers: [provider], imports };
  }
  if (typeof useFactory !== 'function') {
    throw refused(useFactory, `useFactory of ${origin}`, 'is not a function; write (config) => ({ prefetch: 10 })');
  }
  const factory = async (...injected: unknown[]) => checkedResult(await useFactory(...injected), name, 'useFactory');
  return { providers: [{ provide: token, inject, useFactory: factory }], imports };
}

/** Asks a factory of options, and checks its result. */
const checked = (name: string, source: string) => async (factory: DlxBrokerOptionsFactory) => {
  if (typeof (factory as Partial<DlxBrokerOptionsFactory> | undefined)?.createDlxBrokerOptions === 'function') {
    return checkedResult(await factory.createDlxBrokerOptions(), name, source);
  }
  const remedy = 'add createDlxBrokerOptions(), which returns the options';
  throw new DlxConfigurationError(`${origin}: what ${source} names has no method createDlxBrokerOptions; ${remedy}`);
};

function checkedResult(result: DlxBrokerOptions, name: string, source: string): DlxBrokerOptions {
  const options = checkOptions(result, name);
  const early = (['name', 'isGlobal'] as const).find((option) => option in options);
  if (early === undefined) return options;
  throw new DlxConfigurationError(
    `${origin}: ${source} returned '${early}', which has to be known before: write it beside ${source}`,
  );
}
