import { DlxConfigurationError } from '../../platform/options/index.js';
import type { Part } from '../../server/serve/listeners.js';
import type { MetricsAddress, SocketAddress } from '../module/options.js';

export const addressOf = (listener: SocketAddress | undefined): SocketAddress | undefined =>
  listener && { host: listener.host, port: listener.port };

export const metricsAddressOf = (listener: MetricsAddress | undefined): MetricsAddress | undefined =>
  listener && { host: listener.host, port: listener.port, url: listener.url };

const presets = { amqp: 5672, http: 15_672, metrics: 15_692 };

interface Asked {
  readonly host?: string;
  readonly port?: number;
}

/** Makes errors of ports that cannot be opened. @param by the function that took the options, for errors */
export const portRefusal =
  (listen: Readonly<Partial<Record<'amqp' | 'http' | 'metrics', Asked>>>, by: string) =>
  (part: Part, error: NodeJS.ErrnoException): Error => {
    const option = `option 'listen.${part}' of ${by}`;
    if (part === 'audit') return new DlxConfigurationError(`${option}: ${error.message}`, { cause: error });
    const { host = '127.0.0.1', port = presets[part] } = listen[part] ?? {};
    const why = error.code === 'EADDRINUSE' ? ' is taken; choose another one, or 0 for any' : `: ${error.message}`;
    return new DlxConfigurationError(`${option}: port ${port} of ${host}${why}`, { cause: error });
  };
