import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { DlxBroker } from './broker.js';

/** What Nest orders the hooks of modules by: how far one is from the root. */
export interface Distant {
  distance: number;
}

/*
 * Nest calls the hooks of a start module by module, from the farthest from the root to the nearest, and the hooks of a
 * shutdown the other way round; modules of the same distance come in the order of imports. Handlers need the providers of
 * all modules, and other modules publish in their hooks: so the distance of ours is set, before the first hook is called.
 */

/** Its hooks are the first of a start and the last of a shutdown. */
export function beginsFirst(module: Distant): void {
  module.distance = Infinity;
}

/** Its hooks are the last of a start and the first of a shutdown. */
export function beginsLast(module: Distant): void {
  module.distance = -Infinity;
}

/** Consumes when all other modules are up, and no longer when the first of them goes down. */
export class Lifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(private readonly broker: DlxBroker) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.broker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.broker.drain();
  }
}
