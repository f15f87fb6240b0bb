import { AmqpError, type Channel, type VirtualHost } from '../../broker/index.js';
import { type FieldTable, isPredeclared, isReserved } from '../../message/index.js';
import { booleanIn, requiredText, textIn } from '../http/body.js';
import { FieldJsonError, tableOfJson } from '../api/field-json.js';
import type { Management } from '../management.js';
import { badRequest, codes, detailOf } from '../http/reply.js';
import type { JsonObject } from '../http/json-object.js';
import { listIn } from './lists.js';

/**
 * Declares exchanges, queues and bindings as the host application, to which everything is allowed. Yields after each.
 * @throws Problem 400
 */
export function* declareAll(
  management: Management,
  definitions: JsonObject,
  vhostOf: (json: JsonObject) => VirtualHost,
): Generator<void, void, void> {
  for (const [key, declare] of [
    ['exchanges', declareExchange],
    ['queues', declareQueue],
    ['bindings', bind],
  ] as const) {
    for (const json of listIn(definitions, key)) {
      const vhost = vhostOf(json);
      management.asHost(vhost.name, (channel) => refusing(() => declare(channel, vhost, json)));
      yield;
    }
  }
}

function declareExchange(channel: Channel, vhost: VirtualHost, json: JsonObject): void {
  const name = requiredText(json, 'name');
  if (isPredeclared(name) || vhost.exchanges.has(name)) return;
  channel.declareExchange(name, {
    type: requiredText(json, 'type'),
    durable: booleanIn(json, 'durable'),
    autoDelete: booleanIn(json, 'auto_delete'),
    internal: booleanIn(json, 'internal'),
    arguments: argumentsIn(json),
  });
}

function declareQueue(channel: Channel, vhost: VirtualHost, json: JsonObject): void {
  const name = requiredText(json, 'name');
  // A queue with a name of the broker's was exclusive or anonymous: its client has gone.
  if (name === '' || isReserved(name) || vhost.queues.has(name)) return;
  channel.declareQueue(name, {
    durable: booleanIn(json, 'durable'),
    autoDelete: booleanIn(json, 'auto_delete'),
    arguments: argumentsIn(json),
  });
}

/** A binding of something that is not there is passed over, as in RabbitMQ. */
function bind(channel: Channel, vhost: VirtualHost, json: JsonObject): void {
  const source = requiredText(json, 'source');
  const destination = requiredText(json, 'destination');
  const key = textIn(json, 'routing_key') ?? '';
  const toQueue = requiredText(json, 'destination_type') === 'queue';
  const isThere = (toQueue ? vhost.queues : vhost.exchanges).has(destination);
  if (source === '' || !vhost.exchanges.has(source) || !isThere) return;
  if (toQueue) channel.bindQueue(destination, source, key, argumentsIn(json));
  else channel.bindExchange(destination, source, key, argumentsIn(json));
}

function argumentsIn(json: JsonObject): FieldTable {
  const args = json['arguments'] ?? {};
  if (typeof args !== 'object' || args === null) throw badRequest('arguments should be an object');
  // An empty object is an empty list to some writers of definitions.
  if (Array.isArray(args) && args.length > 0) throw badRequest('arguments should be an object');
  try {
    return Array.isArray(args) ? new Map() : tableOfJson(args);
  } catch (error) {
    throw error instanceof FieldJsonError ? badRequest(error.message) : error;
  }
}

/** RabbitMQ shows the error of the declaration as the term it is. */
function refusing(declare: () => void): void {
  try {
    declare();
  } catch (error) {
    if (!(error instanceof AmqpError)) throw error;
    throw badRequest(['amqp_error', error.reply.toLowerCase(), codes(detailOf(error)), 'none']);
  }
}
