import { refusesWhenFull } from '../../engine/broker/index.js';
import type { Backend } from '../../backends/index.js';
import type { Topology } from '../../backends/topology/index.js';
import type { PlannedHandler } from '../core/handler.js';
import type { ConsumerPlan } from '../core/plan.js';
import type { Connected, MetricsAddress, SocketAddress } from '../module/options.js';
import { retentionText, waitQueueName } from '../retry/index.js';
import type { EventLog } from './event-log.js';

/** One line for the log about a handler: its queue, its bindings, its dead-letter exchange or retries. */
export function describeHandler(
  { handler, queue, retry }: PlannedHandler,
  { style }: ConsumerPlan,
  topology: Topology,
  backend: DeadLettering,
): string {
  const bindings = topology.bindings.filter(
    ({ destination, destinationType }) => destinationType === 'queue' && destination === queue,
  );
  const keys = bindings.map(({ source, routingKey }) => `${source} '${routingKey}'`).join(', ');
  const { value: exchange } = handler.settings.queueArguments.get('x-dead-letter-exchange') ?? {};
  const { value: key } = handler.settings.queueArguments.get('x-dead-letter-routing-key') ?? {};
  const dead =
    exchange === undefined
      ? []
      : [`dead letters to '${String(exchange)}'${key === undefined ? '' : ` '${String(key)}'`}`];
  const waits = retry?.delays.map((delay) => waitQueueName(delay, retry.waitQueueType)).join(', ') || 'wait queues';
  const how =
    style === 'in-hand' ? 'waiting in hand' : `${style === 'reject' ? 'rejected into' : 'republished to'} ${waits}`;
  const keeps = retry?.retention === undefined ? '' : ` ${retentionText(retry.retention)}`;
  const attempts = retry?.attempts === 1 ? '1 attempt' : `${retry?.attempts} attempts, ${how}`;
  const retries = retry && [`${attempts}, then '${retry.parkingLot}'${keeps}`];
  const consumes = `${handler.origin} consumes '${queue}'${keys === '' ? '' : ` (${keys})`}`;
  return [consumes, ...dead, ...(retries ?? []), ...deletions(queue, topology, backend)].join('; ');
}

/** Which part of a backend knows the dead-letter exchange that a policy sets. */
type DeadLettering = Pick<Backend, 'deadLetterExchange'>;

/** Which messages a queue deletes, because it has no dead-letter exchange. A retry policy does not get them. */
function deletions(queue: string, topology: Topology, backend: DeadLettering): readonly string[] {
  const args = topology.queues.find(({ name }) => name === queue)?.arguments;
  if (args === undefined || args.has('x-dead-letter-exchange')) return [];
  const isLimited = args.has('x-max-length') || args.has('x-max-length-bytes');
  const drops = isLimited && !refusesWhenFull(args.get('x-overflow')?.value);
  const deleted = [...(args.has('x-message-ttl') ? ['expired'] : []), ...(drops ? ['dropped'] : [])];
  if (deleted.length === 0 || backend.deadLetterExchange?.(queue) !== undefined) return [];
  return [`${deleted.join(' and ')} messages are deleted`];
}

/** The ports of a broker. */
interface Ports {
  readonly metrics: MetricsAddress | undefined;
  readonly amqp: SocketAddress | undefined;
}

/** Logs where the ports of a broker are that are open. */
export function logPorts({ metrics, amqp }: Ports, urls: ReturnType<Connected['urls']>, log: EventLog): void {
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
