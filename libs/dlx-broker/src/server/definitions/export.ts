import { type Broker, Exchange, type Queue, versionOf, type VirtualHost } from '../../engine/broker/index.js';
import { isPredeclared } from '../../engine/message/index.js';
import { tableToJson } from '../api/field-json.js';
import { type Row, without } from '../api/lists.js';
import { parameterRows } from '../api/resources/parameters.js';
import { policyRows } from '../api/resources/policies.js';
import { permissionLists } from '../api/resources/users.js';
import { placed, type PlacedBinding } from '../api/views/binding-columns.js';
import { joined, Rows } from '../http/json.js';
import { userToJson } from './user-json.js';

/** The definitions of a broker, in the format of RabbitMQ. */
export function exportBroker(broker: Broker): Row {
  const vhosts = [...broker.virtualHosts.values()];
  const version = versionOf(broker);
  return {
    rabbit_version: version,
    rabbitmq_version: version,
    product_name: 'RabbitMQ',
    product_version: version,
    users: broker.access.users().map(userToJson),
    vhosts: vhosts.map(vhostToJson),
    permissions: permissionLists.permissions.rows(broker),
    topic_permissions: permissionLists.topics.rows(broker),
    parameters: parameterRows(vhosts),
    global_parameters: broker.parameters.list(),
    policies: policyRows('policies', vhosts),
    queues: new Rows(vhosts.flatMap(queuesIn), queueToJson),
    exchanges: vhosts.flatMap(exchangesOf),
    bindings: joined(vhosts.flatMap(bindingsIn)),
  };
}

/** The definitions of one virtual host. Objects do not name it, so that they can be imported into another one. */
export function exportVhost(broker: Broker, vhost: VirtualHost): Row {
  const bare = (rows: Iterable<Row>): Rows<Row, Row> => new Rows(rows, (row) => without(row, 'vhost'));
  return {
    rabbit_version: versionOf(broker),
    parameters: parameterRows([vhost]),
    policies: policyRows('policies', [vhost]),
    queues: bare(new Rows(queuesIn(vhost), queueToJson)),
    exchanges: bare(exchangesOf(vhost)),
    bindings: bare(joined(bindingsIn(vhost))),
  };
}

function vhostToJson({ name, metadata: { description, tags, defaultQueueType: type } }: VirtualHost): Row {
  const more = type === undefined ? undefined : { default_queue_type: type };
  // RabbitMQ 3.10 writes only the name, and reads the other fields.
  return description === '' && tags.length === 0 ? { name, ...more } : { name, description, tags, ...more };
}

/** True unless the queue is exclusive: such a queue ends with its connection. */
const isExported = ({ declared }: Queue): boolean => declared.owner === undefined;

/** The queues of a virtual host. The list is made at once; each row is made when it is written. */
const queuesIn = (vhost: VirtualHost): readonly Queue[] => [...vhost.queues.values()].filter(isExported);

const queueToJson = ({ declared, home }: Queue): Row => ({
  name: declared.name,
  vhost: home.name,
  durable: declared.durable,
  auto_delete: declared.autoDelete,
  arguments: tableToJson(declared.arguments),
});

const exchangesOf = (vhost: VirtualHost): readonly Row[] =>
  [...vhost.exchanges.values()]
    .filter(({ name }) => !isPredeclared(name))
    .map(({ declared }) => ({
      name: declared.name,
      vhost: vhost.name,
      type: declared.type,
      durable: declared.durable,
      auto_delete: declared.autoDelete,
      internal: declared.internal,
      arguments: tableToJson(declared.arguments),
    }));

/**
 * The bindings by exchange, without those of the default exchange, which every queue has. The lists are made at once,
 * and each row when it is written.
 */
const bindingsIn = (vhost: VirtualHost): readonly Iterable<Row>[] =>
  [...vhost.exchanges.values()]
    .filter(({ name }) => name !== '')
    .map((source) => {
      const bindings = source.bindings().filter(({ destination: to }) => to instanceof Exchange || isExported(to));
      return new Rows(bindings, (binding) => bindingToJson(placed(vhost, source, binding)));
    });

const bindingToJson = ({ source, vhost, destination, kind, bindingKey, args }: PlacedBinding): Row => ({
  source,
  vhost,
  destination,
  destination_type: kind,
  routing_key: bindingKey,
  arguments: tableToJson(args),
});
