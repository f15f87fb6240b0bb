import { createHash } from 'node:crypto';
import type { Broker, Entry, Queue, VirtualHost } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Message, PackedTable } from '../../libs/dlx-broker/src/engine/message/index.js';

/** The durable state of a broker as lines of text. Clients cannot distinguish two brokers with the same lines. */
export function describeBroker(broker: Broker): string {
  const lines: string[] = [];
  for (const user of broker.access.users()) {
    lines.push(`user ${plain(user)}`);
  }
  for (const permissions of broker.access.listPermissions()) lines.push(`permissions ${plain(permissions)}`);
  lines.sort();
  const vhosts = [...broker.virtualHosts.values()].sort(byName);
  for (const vhost of vhosts) describeVirtualHost(vhost, lines);
  return lines.join('\n');
}

function describeVirtualHost(vhost: VirtualHost, lines: string[]): void {
  lines.push(`vhost ${vhost.name}`);
  const { user, operator } = vhost.policies;
  lines.push(
    ...user
      .list()
      .map((policy) => `  policy ${plain(policy)}`)
      .sort(),
  );
  lines.push(
    ...operator
      .list()
      .map((policy) => `  operator policy ${plain(policy)}`)
      .sort(),
  );
  const held: string[] = [];
  for (const exchange of [...vhost.exchanges.values()].sort(byName)) {
    lines.push(`  exchange ${exchange.name} ${exchange.policy} ${declaredText(exchange.declared)}`);
    const bindings = exchange.bindings().map(({ destination, bindingKey, arguments: args }) => {
      const kind = 'length' in destination ? 'queue' : 'exchange';
      return `  binding ${exchange.name} to ${kind} ${destination.name} ${bindingKey} ${plain(args)}`;
    });
    lines.push(...bindings.sort());
    exchange.delayed?.each(({ message, position, due }) => {
      held.push(`  held by ${exchange.name} until ${due} as ${position}: ${describeMessage(message)}`);
    });
  }
  lines.push(...held.sort());
  for (const queue of [...vhost.queues.values()].sort(byName)) describeQueue(queue, lines);
  const dying: string[] = [];
  vhost.dead.each(({ queue, entry, reason, retained, time, headers }) => {
    const kept = retained ? ` at ${time}, kept ${plain(headers)}` : '';
    if (queue.home === vhost)
      dying.push(`  dying in ${queue.name} of ${reason}${kept}: ${describeMessage(entry.message)}`);
  });
  lines.push(...dying.sort());
}

function describeQueue(queue: Queue, lines: string[]): void {
  const { inForce, declared } = queue;
  lines.push(
    `  queue ${queue.name} ${inForce?.policy?.name} ${inForce?.operatorPolicy?.name} ${declaredText(declared)}`,
  );
  lines.push(
    `    ${queue.length} ready, ${queue.bytes} bytes, ${queue.unacked} unacked, ${queue.retained} retained, ${queue.delayed} held back`,
  );
  if (queue.pausing.state !== undefined) lines.push(`    paused ${plain(queue.pausing.state)}`);
  // Only quorum queues count returns. Other queues know whether there was one.
  const isCounted = declared.type === 'quorum';
  const lineOf = ({ message, position, returns, failures, deadline }: Entry): string => {
    const came = isCounted ? `returned ${returns}, failed ${failures}` : returns > 0 ? 'again' : 'fresh';
    return `${position} ${came}, until ${deadline}: ${describeMessage(message)}`;
  };
  const heldBack: string[] = [];
  queue.peek(
    (entry) => void lines.push(`    ${lineOf(entry)}`),
    (entry, due) => void heldBack.push(`    held back until ${due}: ${lineOf(entry)}`),
  );
  lines.push(...heldBack.sort());
}

/** Descriptions of declarations, which are immutable. */
const declarations = new WeakMap<object, string>();

function declaredText(declared: object): string {
  let text = declarations.get(declared);
  if (text === undefined) declarations.set(declared, (text = plain({ ...declared, owner: undefined })));
  return text;
}

/** Descriptions of messages, which are immutable and part of many states. */
const described = new WeakMap<Message, string>();

/** What a consumer can see of a message. The body is a digest. */
function describeMessage(message: Message): string {
  let text = described.get(message);
  if (text === undefined) described.set(message, (text = textOf(message)));
  return text;
}

function textOf({ exchange, routingKey, properties, carbonCopies, hasDied, origin, body }: Message): string {
  const digest = createHash('sha1').update(body).digest('base64url').slice(0, 12);
  return `${plain({ exchange, routingKey, properties, carbonCopies, hasDied, origin })} ${body.length} ${digest}`;
}

const byName = (one: { readonly name: string }, other: { readonly name: string }): number =>
  one.name < other.name ? -1 : 1;

/** The properties of a message as a consumer sees them. */
export const describeProperties = ({ properties }: Message): string => plain(properties);

/** JSON with sorted keys. The order of a field table is kept. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (part instanceof Uint8Array) return Buffer.from(part).toString('hex');
    if (part instanceof Map || part instanceof PackedTable) return [...(part as ReadonlyMap<string, unknown>)];
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
