import { HttpException } from '@nestjs/common';
import type { EventLog } from '../log/event-log.js';
import { RpcException } from '../handlers/nest-versions.js';
import type { BackendDelivery } from '../../backends/index.js';
import { deathsOf } from '../../engine/message/index.js';
import { isWaitQueueName } from '../../backends/topology/index.js';

/** The text of Nest's error when a guard returns false. */
const forbidden = 'Forbidden resource';

/** False for an exception whose methods throw. */
function isDenial(error: unknown): boolean {
  try {
    if (error instanceof RpcException) return error.getError() === forbidden;
    return error instanceof HttpException && (error.getStatus() === 401 || error.getStatus() === 403);
  } catch {
    return false;
  }
}

/**
 * Warns, once for each handler, when a guard keeps a dead letter from its handler. The start cannot warn of that, because a guard
 * decides for each message.
 */
export class Denials {
  readonly #warned = new Set<string>();

  constructor(private readonly log: EventLog) {}

  note(error: unknown, { message, queue }: Pick<BackendDelivery, 'message' | 'queue'>, origin: string): void {
    if (!isDenial(error) || this.#warned.has(origin)) return;
    // A message that comes again from the handler's own queue, or from a wait queue, is no dead letter of another queue.
    if (deathsOf(message).every((death) => death.queue === queue || isWaitQueueName(death.queue))) return;
    this.#warned.add(origin);
    const text =
      `a guard denied a dead letter to ${origin}, which is there to take care of it; a guard for everything (APP_GUARD, ` +
      "useGlobalGuards) has to let messages pass: if (context.getType() === 'rpc') return true";
    this.log.write('denied', text, { handler: origin });
  }
}
