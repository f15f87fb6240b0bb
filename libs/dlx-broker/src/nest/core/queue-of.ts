import { isShortstr, maxShortstrBytes } from '../../engine/message/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import type { Handler } from './handler.js';

/** The queue of a handler: its name, which several handlers may share, or else class and method. */
export function queueOf({ origin, settings }: Handler): string {
  const named = settings.queue.name ?? settings.consume?.queue;
  if (settings.queue.name !== undefined && settings.consume?.queue !== undefined && named !== settings.consume.queue) {
    throw new DlxConfigurationError(
      `${origin}: @Queue names '${settings.queue.name}' and @Consume names '${settings.consume.queue}'`,
    );
  }
  const queue = named ?? origin;
  if (queue === '' || !isShortstr(queue)) {
    throw new DlxConfigurationError(
      `${origin}: '${queue}' cannot be the name of a queue: 1 to ${maxShortstrBytes} bytes`,
    );
  }
  return queue;
}
