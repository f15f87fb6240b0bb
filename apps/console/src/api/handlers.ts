import { ApiError, pathOf, request } from './http';

/** A handler of the application in whose process the API runs. Times are milliseconds since 1970. */
export interface QueueHandler {
  /** Class and method. */
  readonly handler: string;
  readonly vhost: string;
  readonly queue: string;
  readonly state: 'running' | 'open' | 'probing' | 'paused';
  readonly circuit: string | null;
  /** Why it is not running; null also for a user who may not see it. */
  readonly reason: string | null;
  readonly since: number | null;
  readonly next_probe: number | null;
  /** This user may pause it. */
  readonly may_pause: boolean;
}

/** The path of the pause of a handler. */
export const pathOfHandlerPause = (handler: string): string => pathOf('dlx', 'handlers', handler, 'pause');

/** The handlers of the application at this port. Undefined where the port knows none: an application on a server, or an earlier version. */
export async function loadHandlers(signal: AbortSignal): Promise<readonly QueueHandler[] | undefined> {
  try {
    return (await request<{ items: readonly QueueHandler[] }>('dlx/handlers', { signal })).items;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 501)) return undefined;
    throw error;
  }
}
