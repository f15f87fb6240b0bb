import type { Connection } from '../../engine/broker/index.js';

/** The effect of each key of a policy that {@link retainOn} sets. */
const settingOf = {
  'message-ttl': 'messageTtl',
  'dead-letter-exchange': 'deadLetterExchange',
  'dead-letter-routing-key': 'deadLetterRoutingKey',
} as const;

/** See `Backend.retain`. */
export function retainOn(
  { vhost, user }: Connection,
  name: string,
  definition: Readonly<Record<string, string | number>> | undefined,
): string | undefined {
  const policy = `dlx-broker.retention.${name}`;
  const { user: policies } = vhost.policies;
  if (definition === undefined) {
    if (user === undefined && policies.get(policy) !== undefined) vhost.deletePolicy(policy);
    return undefined;
  }
  const queue = vhost.queues.get(name);
  if (queue === undefined) return undefined;
  if (user !== undefined) return `user '${user.name}' of the application sets no policies`;
  const { declared } = queue;
  const applied = policies.matchQueue(name, declared.type);
  if (applied !== undefined && applied.name !== policy) {
    return `policy '${applied.name}' applies to it, and a queue has one policy only`;
  }
  const pattern = `^${name.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')}$`;
  vhost.setPolicy(policy, { pattern, definition, applyTo: 'queues' });
  const { settings } = vhost.policies.inForce(declared);
  const other = Object.entries(settingOf).find(([key, setting]) => settings[setting] !== definition[key]);
  return other === undefined ? undefined : `its own arguments say another ${other[0]}`;
}
