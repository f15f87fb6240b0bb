import type { EventLog } from '../log/event-log.js';
import type { Connected, MetricsAddress, SocketAddress } from './options.js';

/** The ports of a broker. */
interface Ports {
  readonly metrics: MetricsAddress | undefined;
  readonly amqp: SocketAddress | undefined;
}

/** Logs where the ports of a broker are that are open. */
export function tellPorts({ metrics, amqp }: Ports, urls: ReturnType<Connected['urls']>, log: EventLog): void {
  if (metrics !== undefined) log.write('metricsOpened', `metrics are at ${metrics.url}`, { url: metrics.url });
  if (amqp !== undefined) {
    const { host, port } = amqp;
    log.write('amqpOpened', `AMQP 0-9-1 clients may connect to ${host}:${port}`, { host, port });
  }
  if (urls === undefined) return;
  const { api, console: page } = urls;
  log.write('apiOpened', `the management API is at ${api}`, { url: api });
  if (page !== undefined) log.write('consoleOpened', `the console is at ${page}`, { url: page });
}
