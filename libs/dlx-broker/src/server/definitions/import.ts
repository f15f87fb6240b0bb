import type { VirtualHost, VirtualHostMetadata } from '../../engine/broker/index.js';
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

/** @param maker the importing user, if there is one */
type Step = (management: Management, json: JsonObject, maker: string | undefined) => void;

/** The parts of definitions, in the order of RabbitMQ: each comes before the parts that need it. */
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

/** Their keys. The rest of definitions is declared, see {@link declareAll}. */
export const partKeys: readonly string[] = steps.map(([key]) => key);

/**
 * Adds definitions to the broker. Users, policies, permissions and parameters replace those of their name; existing
 * exchanges and queues stay unchanged. As in RabbitMQ, the parts before an error have been added. Yields after each
 * object.
 * @throws Problem 400 with the reason of RabbitMQ
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

/**
 * Adds definitions to one virtual host, whichever they name.
 * @throws Problem 400
 */
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

/**
 * The metadata of a virtual host; undefined if definitions have none, as those of RabbitMQ 3.10, so that existing
 * metadata stay.
 */
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
