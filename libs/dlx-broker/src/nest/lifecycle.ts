import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { DlxBroker } from './broker.js';

/**
 * Begins late and ends early. Nest starts global modules first and stops them last; handlers, though, need the other
 * providers: so this stands in a module of its own that is not global.
 */
export class Lifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(private readonly broker: DlxBroker) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.broker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.broker.drain();
  }
}
