import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { DlxBroker } from './broker.js';

/** A module with its distance from the root module, by which Nest orders the hooks. */
export interface Distant {
  distance: number;
}

/*
 * Nest calls the hooks of a start module by module, from the farthest from the root to the nearest, and the hooks of a
 * shutdown the other way round; modules of the same distance come in the order of imports. Handlers need the providers of
 * all modules, and other modules publish in their hooks. So the distance of this library's modules is set before the first hook.
 */

/** Makes the hooks of a module the first of a start and the last of a shutdown. */
export function beginsFirst(module: Distant): void {
  module.distance = Infinity;
}

/** Makes the hooks of a module the last of a start and the first of a shutdown. */
export function beginsLast(module: Distant): void {
  module.distance = -Infinity;
}

/** Starts to consume when all other modules are up, and stops before the first of them shuts down. */
export class Lifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(private readonly broker: DlxBroker) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.broker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.broker.drain();
  }
}
