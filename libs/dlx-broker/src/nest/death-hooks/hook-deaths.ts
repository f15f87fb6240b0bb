import type { ModulesContainer } from '@nestjs/core';
import type { Backend } from '../../backends/index.js';
import { HomeContext } from '../../platform/index.js';
import { EventLog } from '../log/event-log.js';
import type { LoggingOptions } from '../log/logging.js';
import type { OutcomeEvents } from '../core/outcome-events.js';
import { DeathHooks } from './death-hooks.js';
import type { DeathHook } from './death.js';
import { findHooks } from './find-hooks.js';

/**
 * Calls the methods with `@OnDeadLetter` from now on. If there are none, nothing is watched.
 * @returns the methods
 * @throws DlxConfigurationError for wrong options
 */
export function hookDeaths(
  modules: ModulesContainer,
  name: string,
  { clock }: Backend,
  events: OutcomeEvents,
  logging: LoggingOptions | undefined,
): readonly DeathHook[] {
  const hooks = findHooks(modules, name);
  if (hooks.length > 0)
    events.callHooks(new DeathHooks(hooks, clock, new HomeContext(), new EventLog(`DlxBroker ${name}`, logging)));
  return hooks;
}
