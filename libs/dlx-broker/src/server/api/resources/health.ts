import { X509Certificate } from 'node:crypto';
import type { Fault, ManagementHost } from '../../host.js';
import { type Answer, badRequest, notFound, ok } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import { type Management, portsOf } from '../../management.js';
import { timeText } from '../views/client-columns.js';

const fine: Answer = ok({ status: 'ok' });

/** A failed check: 503 with the reason and further fields. */
const failed = (reason: string, more: object): Answer => ({ status: 503, body: { status: 'failed', reason, ...more } });

const alarms =
  (reason: string): Handler =>
  (_, { host, nodeName }) => {
    const raised = (host.alarms?.() ?? []).map((resource) => ({ node: nodeName, resource }));
    const faults = faultsOf(host).map(({ name, reason: why, queues }) => ({
      node: nodeName,
      resource: 'disk',
      fault: name,
      reason: why,
      ...(queues.length > 0 && { queues }),
    }));
    if (raised.length + faults.length === 0) return fine;
    return failed([reason, ...faults.map(({ reason: why }) => why)].join('; '), { alarms: [...raised, ...faults] });
  };

const faultsOf = ({ faults }: Management['host']): readonly Fault[] => faults?.() ?? [];

const days: ReadonlyMap<string, number> = new Map([
  ['days', 1],
  ['weeks', 7],
  ['months', 365 / 12],
  ['years', 365],
]);

const certificates: Handler = (request, management) => {
  if (!/^[+-]?\d+$/.test(request.name('within'))) throw badRequest('Invalid expiration value.');
  const unit = days.get(request.name('unit').toLowerCase());
  if (unit === undefined) {
    throw badRequest('Time unit not recognised. Supported units: days, weeks, months, years.');
  }
  const limit = management.now() + Number(request.name('within')) * unit * 86_400_000;
  const expired = portsOf(management).flatMap(({ certificate, protocol, host, port }) => {
    if (certificate === undefined) return [];
    const until = Date.parse(new X509Certificate(certificate).validTo);
    const row = { node: management.nodeName, protocol, interface: host, port, certfile_expires_on: [timeText(until)] };
    return until <= limit ? [row] : [];
  });
  return expired.length === 0 ? fine : failed('Certificates expiring', { expired });
};

const port: Handler = (request, management) => {
  const asked = request.name('port');
  if (!/^[+-]?\d+$/.test(asked)) throw badRequest('Invalid port');
  const open = portsOf(management).map((each) => each.port);
  const wanted = Number(asked);
  if (open.includes(wanted)) return ok({ status: 'ok', port: wanted });
  return failed('No active listener', { missing: wanted, ports: open });
};

/** Other names of protocols, as RabbitMQ accepts them. */
const protocols: ReadonlyMap<string, string> = new Map([
  ['amqp091', 'amqp'],
  ['amqp0.9.1', 'amqp'],
  ['amqp0-9-1', 'amqp'],
  ['amqp0_9_1', 'amqp'],
  ['amqps', 'amqp/ssl'],
]);

const protocol: Handler = (request, management) => {
  const asked = request.name('protocol').toLowerCase();
  const wanted = protocols.get(asked) ?? asked;
  const open = portsOf(management).map((each) => each.protocol);
  if (open.includes(wanted)) return ok({ status: 'ok', protocol: wanted });
  return failed('No active listener', { missing: wanted, protocols: open });
};

/** The answer to checks of clusters: this broker is a single node. */
const alone: Handler = () => ok({ status: 'ok', reason: 'single node cluster' });

const testQueue = 'aliveness-test';

/** Publishes and gets one message. The queue stays, because clients may send this request every few seconds. */
const aliveness: Handler = (request, management) => {
  const vhost = request.name('vhost');
  const fault = faultsOf(management.host).find(
    ({ name, queues }) => name === 'storage_failed' || queues.some((queue) => queue.vhost === vhost),
  );
  if (fault !== undefined) return failed(fault.reason, {});
  const got = management.as(request.user, vhost, (channel) => {
    channel.declareQueue(testQueue);
    channel.publish('', testQueue, {}, Buffer.from('test_message'));
    return channel.get(testQueue, { noAck: true });
  });
  return got === undefined ? failed('aliveness-test queue is empty', {}) : fine;
};

const healthOf: Handler = (request, management: Management) => {
  const { node } = request.names;
  if (node !== undefined && node !== management.nodeName) {
    throw notFound();
  }
  const raised = management.host.alarms?.() ?? [];
  const reasons = raised.length === 0 ? [] : [`resource alarm(s) in effect: [${raised.join(',')}]`];
  reasons.push(...faultsOf(management.host).map(({ reason }) => reason));
  return reasons.length === 0 ? fine : failed(reasons.join('; '), {});
};

/** A storage fault stops all virtual hosts, as the end of a message store does in RabbitMQ. */
const virtualHosts: Handler = (_, { host, broker }) => {
  const fault = faultsOf(host).find(({ name }) => name === 'storage_failed');
  if (fault === undefined) return fine;
  return failed(`Some virtual hosts are down; ${fault.reason}`, { 'virtual-hosts': [...broker.virtualHosts.keys()] });
};

const check = (path: string, GET: Handler): Resource => ({ path: `/health/checks/${path}`, allows: 'management', GET });

export const health: readonly Resource[] = [
  { path: '/aliveness-test/:vhost', allows: 'management', GET: aliveness },
  { path: '/healthchecks/node', allows: 'management', GET: healthOf },
  { path: '/healthchecks/node/:node', allows: 'management', GET: healthOf },
  check('alarms', alarms('There are alarms in effect in the cluster')),
  check('local-alarms', alarms('There are alarms in effect on the node')),
  check('certificate-expiration/:within/:unit', certificates),
  check('port-listener/:port', port),
  check('protocol-listener/:protocol', protocol),
  check('virtual-hosts', virtualHosts),
  check('node-is-mirror-sync-critical', alone),
  check('node-is-quorum-critical', alone),
  // A single node has nothing to rebalance.
  { path: '/rebalance/queues', allows: 'administrator', POST: () => ({ status: 204 }) },
  {
    path: '/auth',
    allows: 'management',
    GET: () => ok({ enable_uaa: false, uaa_client_id: '', uaa_location: '' }),
  },
];

/** The probed of a probe: 200, or 503 with the names of the problems. */
const probed = (problems: readonly string[]): Answer =>
  problems.length === 0
    ? { status: 200, body: { status: 'ok' } }
    : { status: 503, body: { status: 'failed', problems } };

/** The names that `DlxBroker.health()` gives to these problems. */
const nameOf = { storage_failed: 'storage-failed', storage_unreadable: 'storage-unreadable' } as const;

const faultNamesOf = ({ faults }: ManagementHost): readonly string[] => [
  ...new Set((faults?.() ?? []).map(({ name }) => nameOf[name])),
];

/**
 * The probes of an orchestrator, which has no login. So their answers have no names of queues, no paths and no texts of errors; the
 * checks below `/api/health/checks` tell the details to users.
 */
export const probes: Readonly<Record<string, (host: ManagementHost) => Answer>> = {
  /** Fails when a restart of the process is the remedy. */
  '/api/dlx/health/live': (host) => probed(faultNamesOf(host).filter((name) => name === nameOf.storage_failed)),
  /** Fails while publishers wait or are refused. */
  '/api/dlx/health/ready': (host) =>
    probed([...faultNamesOf(host), ...((host.alarms?.() ?? []).length > 0 ? ['alarm'] : [])]),
};
