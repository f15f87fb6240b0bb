import type { ApplicationConfig, ContextId, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { BrokerParts } from './broker-parts.js';
import { captureErrors } from '../core/capture.js';
import { hookDeaths } from '../death-hooks/hook-deaths.js';
import { iterateResults } from '../core/generated.js';
import { HandlerSource } from '../core/handler-source.js';
import type { Connected, DlxBrokerOptions, ResolvedOptions } from './options.js';
import { RunningBroker } from './running-broker.js';
import type { DlxServer } from './server.js';

/** The application of a broker, as its module knows it. */
export interface OfApplication {
  readonly modules: ModulesContainer;
  readonly config: ApplicationConfig;
  readonly moduleRef: ModuleRef;
}

/** Makes what runs handlers. This file imports all that handlers need, so an application imports it while it starts. */
export function runBroker(
  options: ResolvedOptions,
  logging: DlxBrokerOptions['logging'],
  connected: Connected,
  server: DlxServer,
  parts: Omit<BrokerParts, 'provider'>,
  { modules, config, moduleRef }: OfApplication,
): RunningBroker {
  const { name } = options;
  captureErrors(config);
  iterateResults();
  const register = (request: unknown, contextId: ContextId): void =>
    moduleRef.registerRequestByContextId(request, contextId);
  const hook = (): void => hookDeaths(modules, name, connected.backend, parts.events, logging);
  const source = new HandlerSource(name, modules, config, register, parts.client.timers, hook);
  return new RunningBroker(options, connected, server, source, {
    ...parts,
    provider: (type) => moduleRef.get(type, { strict: false }),
  });
}
