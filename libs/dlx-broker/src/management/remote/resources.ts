import { auditPage } from '../dlx/audit-resource.js';
import type { Capabilities } from '../dlx/capabilities.js';
import { isOf } from '../http/auth.js';
import { notAuthorised, ok, Problem } from '../http/reply.js';
import { overview } from './overview.js';
import { queues } from './queues.js';
import { redrives } from './redrives/redrives-resource.js';
import type { RemoteHandler, RemoteResource } from './resource.js';
import { topology } from './topology.js';

const showCapabilities: RemoteHandler = async ({ caller }, { snapshots, server }) => {
  const { version } = await snapshots.of(caller);
  const rabbitmq: Capabilities = {
    product: 'RabbitMQ',
    version,
    server: server.base,
    look: false,
    redrive: 'first',
    edits: false,
    events: false,
    deaths: false,
    pause: false,
  };
  return ok(rabbitmq);
};

/** The audit log of this application: changes that its console made. */
const showAudit: RemoteHandler = ({ caller, query }, { audit }) => {
  if (!isOf('monitor', caller.user)) throw notAuthorised('Not monitor user');
  return auditPage(query, audit);
};

const noPause: RemoteHandler = () => {
  throw new Problem(
    501,
    'not_possible',
    'RabbitMQ cannot pause a queue; pause the handlers of each application, or cancel the consumers of the queue',
  );
};

const noHandlers: RemoteHandler = () => {
  throw new Problem(
    501,
    'not_possible',
    "handlers are known only to the HTTP API of an application with a broker of its own, option 'listen.http' of embedded(); " +
      'an application on a server pauses its handlers by code: DlxBroker.handler(NAME).pause()',
  );
};

/** The paths of dlx-broker, as far as they are possible with RabbitMQ. */
export const remoteResources: readonly RemoteResource[] = [
  { path: '/dlx/capabilities', GET: showCapabilities },
  ...overview,
  ...queues,
  ...topology,
  ...redrives,
  { path: '/dlx/queues/:vhost/:name/pause', PUT: noPause, DELETE: noPause },
  { path: '/dlx/handlers', GET: noHandlers },
  { path: '/dlx/handlers/:name/pause', PUT: noHandlers, DELETE: noHandlers },
  { path: '/dlx/audit', GET: showAudit },
];
