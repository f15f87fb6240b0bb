import { refusesWhenFull } from '../../engine/broker/index.js';
import type { Backend } from '../../backends/index.js';
import { shownDuration } from '../../platform/options/index.js';
import type { Topology } from '../../backends/topology/index.js';
import type { PlannedHandler } from '../core/handler.js';
import type { ConsumerPlan } from '../core/plan.js';
import type { Connected } from '../module/options.js';
import { retentionText, type RetryPlan } from '../retry/index.js';
import type { EventLog } from './event-log.js';

/**
 * One line for the log about a handler: its queue, its bindings, and what happens to failed messages. The first handler of a queue
 * also shows the bindings that belong to none.
 */
export function describeHandler(
  planned: PlannedHandler,
  { handlers }: ConsumerPlan,
  topology: Topology,
  backend: DeadLettering,
): string {
  const { handler, queue, retry } = planned;
  const others = handlers.flatMap((other) => (other === planned ? [] : [other.handler.origin]));
  const isFirst = handlers[0] === planned;
  const bindings = topology.bindings.filter(
    ({ destination, destinationType, origin }) =>
      destinationType === 'queue' &&
      destination === queue &&
      (isFirst ? !others.some((other) => other === origin) : origin === handler.origin),
  );
  const keys = bindings.map(({ source, routingKey }) => `${source} '${routingKey}'`).join(', ');
  const { value: exchange } = handler.settings.queueArguments.get('x-dead-letter-exchange') ?? {};
  const { value: key } = handler.settings.queueArguments.get('x-dead-letter-routing-key') ?? {};
  const dead =
    exchange === undefined
      ? []
      : [`dead letters to '${String(exchange)}'${key === undefined ? '' : ` '${String(key)}'`}`];
  const consumes = `${handler.origin} consumes '${queue}'${keys === '' ? '' : ` (${keys})`}`;
  return [consumes, ...dead, ...(retry ? [retries(retry)] : []), ...deletions(planned, topology, backend)].join('; ');
}

/** The most attempts whose waits are added up at a start. */
const mostAdded = 1_000;

/** A policy in plain words, with the longest time from the first failure to the last attempt. */
function retries({ attempts, deadline, longestBefore, parkingLot, retention }: RetryPlan): string {
  let time = attempts > mostAdded ? undefined : 0;
  for (let attempt = 2; attempt <= attempts && time !== undefined; attempt++) {
    const wait = longestBefore(attempt);
    time = wait === undefined ? undefined : time + wait;
  }
  const longest = Math.min(time ?? Infinity, deadline ?? Infinity);
  const over = longest === 0 || longest === Infinity ? '' : ` over ${shownDuration(longest)}`;
  const keeps = retention === undefined ? '' : ` ${retentionText(retention)}`;
  return `${attempts === 1 ? '1 attempt' : `${attempts} attempts${over}`}, then '${parkingLot}'${keeps}`;
}

/** Which part of a backend knows the dead-letter exchange that a policy sets. */
type DeadLettering = Pick<Backend, 'deadLetterExchange'>;

/** Which messages a queue deletes, because it has no dead-letter exchange. A retry policy gets only those on which the handler fails. */
function deletions(
  { handler, queue, retry }: PlannedHandler,
  topology: Topology,
  backend: DeadLettering,
): readonly string[] {
  const args = topology.queues.find(({ name }) => name === queue)?.arguments;
  if (args === undefined || args.has('x-dead-letter-exchange')) return [];
  const isLimited = args.has('x-max-length') || args.has('x-max-length-bytes');
  const reasons = [
    [retry === undefined && handler.kind !== 'request', 'failed'],
    [args.has('x-message-ttl'), 'expired'],
    [isLimited && !refusesWhenFull(args.get('x-overflow')?.value), 'dropped'],
  ] as const;
  const deleted = reasons.flatMap(([holds, reason]) => (holds ? [reason] : []));
  if (deleted.length === 0 || backend.deadLetterExchange?.(queue) !== undefined) return [];
  return [`${deleted.join(' and ')} messages are deleted`];
}

/** Logs in one line where a broker is that is up, and its open ports. */
export function logPlace(connected: Connected, log: EventLog): void {
  const { api, console: page } = connected.urls() ?? {};
  const socket = connected.amqp();
  const amqp = socket && `${socket.host}:${socket.port}`;
  const metrics = connected.metrics?.address()?.url;
  const ports = [
    ['AMQP', amqp],
    ['management API', api],
    ['console', page],
    ['metrics', metrics],
  ] as const;
  const open = ports.flatMap(([port, at]) => (at === undefined ? [] : [`${port} at ${at}`]));
  const parts = [connected.where?.() ?? [], open.join(', ') || []].flat();
  if (parts.length > 0) log.write('brokerFound', parts.join('; '), { amqp, api, console: page, metrics });
}
