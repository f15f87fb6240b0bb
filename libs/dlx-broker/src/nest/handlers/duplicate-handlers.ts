import { isShortstr, maxShortstrBytes } from '../../engine/message/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import type { Handler } from '../core/handler.js';

/** Refuses two handlers of one request, and two handlers for every message of a queue. */
export function refuseDuplicateHandlers(handlers: readonly Handler[]): void {
  const requests = new Map<string, Handler>();
  const unfiltered = new Map<string, Handler>();
  const unnamed = new Map<string, Handler>();
  const keys = new Map<string, Handler>();
  for (const handler of handlers) {
    const queue = queueOf(handler);
    if (handler.kind === 'request') {
      for (const pattern of handler.patterns) {
        refuseWildcard(pattern, handler);
        refuseSecond(requests, `pattern '${pattern}'`, handler, pattern);
      }
    }
    if (handler.patterns.length === 0) {
      const what = `queue '${queue}', and neither names a routing key; name one in each, or give one handler a queue of its own`;
      refuseSecond(unfiltered, what, handler, queue);
    }
    for (const pattern of handler.kind === 'request' ? [] : new Set(handler.patterns)) {
      const what = `routing key '${pattern}' of queue '${queue}', so that both get each message; give one a queue of its own`;
      refuseSecond(keys, what, handler, JSON.stringify([queue, pattern]));
    }
    if (queue === handler.origin) refuseSecond(unnamed, `queue '${queue}'; name it by @Queue`, handler, queue);
  }
}

function refuseSecond(known: Map<string, Handler>, what: string, handler: Handler, key: string): void {
  const first = known.get(key);
  if (first !== undefined) {
    throw new DlxConfigurationError(
      listedTwice(first, handler) ?? `${first.origin} and ${handler.origin} both handle ${what}`,
    );
  }
  known.set(key, handler);
}

/** The text about one method that is found twice, because its class is listed twice. Undefined for two methods. */
function listedTwice(
  { origin, method: first }: Handler,
  { origin: other, method: second }: Handler,
): string | undefined {
  if (first === undefined || first.hostedBy !== second?.hostedBy || origin !== other) return undefined;
  const [one, two] = [first.module.name, second.module.name];
  const place = ({ inController }: typeof first): string => (inController ? 'a controller' : 'a provider');
  const isAlike = first.inController === second.inController;
  const again = isAlike ? (one === two ? 'twice' : `and of ${two}`) : `and ${place(second)} of ${two}`;
  const mayExport = one !== two && !first.inController && !second.inController;
  return (
    `class ${first.hostedBy.constructor.name} is ${place(first)} of ${one} ${again}, and ${origin} would be two handlers: ` +
    `list it ${mayExport ? 'in one module and export it' : 'once'}`
  );
}

/** Refuses wildcards in the pattern of a request, which has one handler. Objects (`{"cmd":"sum"}`) are compared as text. */
function refuseWildcard(pattern: string, { origin }: Handler): void {
  if (!pattern.startsWith('{') && pattern.split('.').some((word) => word === '*' || word === '#')) {
    throw new DlxConfigurationError(
      `@MessagePattern on ${origin}: '${pattern}' has wildcards, but a request has one handler`,
    );
  }
}

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
