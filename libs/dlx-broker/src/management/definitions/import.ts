import type { VirtualHost, VirtualHostMetadata } from '../../broker/index.js';
import { requiredText, textIn } from '../http/body.js';
import type { Management } from '../management.js';
import { badRequest, escapedRequest, noVhost, type Problem } from '../http/reply.js';
import type { JsonObject } from '../http/json-object.js';
import { setParameter } from '../api/resources/parameters.js';
import { setPermissions } from '../api/resources/permissions.js';
import { setPolicy } from '../api/resources/policies.js';
import { setTopicPermissions } from '../api/resources/topic-permissions.js';
import { addVhost, metadataIn, refuseStreams } from '../api/resources/vhosts.js';
import { declareAll } from './declare-all.js';
import { listIn } from './lists.js';
import { userOfJson } from './user-json.js';

/** @param maker who brings them, if that is a user */
type Step = (management: Management, json: JsonObject, maker: string | undefined) => void;

/** Everything that can stand in definitions, in the order in which one thing may need another: RabbitMQ's own. */
const steps: readonly (readonly [key: string, add: Step])[] = [
  ['users', ({ broker }, json) => void broker.access.setUser(requiredText(json, 'name'), userOfJson(json))],
  ['vhosts', ({ broker }, json, maker) => void addVhost(broker, requiredText(json, 'name'), newMetadata(json), maker)],
  [
    'permissions',
    (management, json) =>
      void setPermissions(management, userIn(management, json), vhostIn(management, json).name, json),
  ],
  [
    'topic_permissions',
    (management, json) =>
      setTopicPermissions(management, userIn(management, json), vhostIn(management, json).name, json),
  ],
  ['parameters', addParameter],
  ['global_parameters', ({ broker }, json) => void broker.parameters.set(requiredText(json, 'name'), json['value'])],
  ['policies', addPolicy],
];

/**
 * Adds what definitions tell of to the broker. Users, policies, permissions and parameters replace those of their name;
 * exchanges and queues that exist stay as they are. What went before a fault has been added, as in RabbitMQ. Yields after
 * each thing that was added.
 * @throws Problem 400 with RabbitMQ's reasons
 */
export function* importBroker(
  management: Management,
  definitions: JsonObject,
  maker: string | undefined,
): Generator<void, void, void> {
  for (const [key, add] of steps) {
    for (const json of listIn(definitions, key)) {
      add(management, json, maker);
      yield;
    }
  }
  yield* declareAll(management, definitions, (json) => vhostIn(management, json));
}

/** Into one virtual host, whatever the definitions say of virtual hosts. @throws Problem 400 */
export function* importVhost(
  management: Management,
  vhost: VirtualHost,
  definitions: JsonObject,
): Generator<void, void, void> {
  refuseStreams(definitions);
  const here = (json: JsonObject): JsonObject => ({ ...json, vhost: vhost.name });
  for (const json of listIn(definitions, 'parameters')) addParameter(management, here(json));
  for (const json of listIn(definitions, 'policies')) addPolicy(management, here(json));
  yield* declareAll(management, definitions, () => vhost);
}

/** Definitions of RabbitMQ 3.10 tell nothing: what is known stays then. */
function newMetadata(json: JsonObject): VirtualHostMetadata | undefined {
  refuseStreams(json);
  return json['description'] === undefined && json['tags'] === undefined ? undefined : metadataIn(json);
}

function addParameter(management: Management, json: JsonObject): void {
  const vhost = vhostIn(management, json);
  const component = requiredText(json, 'component');
  const name = requiredText(json, 'name');
  const where = (reason: string): Problem => escapedRequest(`${reason} (${vhost.name}/${component}/${name})`);
  setParameter(vhost, component, name, json['value'], where);
}

function addPolicy(management: Management, json: JsonObject): void {
  const vhost = vhostIn(management, json);
  const name = requiredText(json, 'name');
  setPolicy('policies', vhost, name, json, (reason) => escapedRequest(`${reason} (${vhost.name}/${name})`));
}

function userIn({ broker }: Management, json: JsonObject): string {
  const name = textIn(json, 'user') ?? 'undefined';
  if (broker.access.user(name) === undefined) throw badRequest(['no_such_user', name]);
  return name;
}

function vhostIn({ broker }: Management, json: JsonObject): VirtualHost {
  const name = textIn(json, 'vhost') ?? 'undefined';
  const vhost = broker.virtualHosts.get(name);
  if (vhost === undefined) throw badRequest(['no_such_vhost', name]);
  return vhost;
}

/** @throws Problem 404 */
export function existingVhost({ broker }: Management, name: string): VirtualHost {
  const vhost = broker.virtualHosts.get(name);
  if (vhost === undefined) throw noVhost();
  return vhost;
}
