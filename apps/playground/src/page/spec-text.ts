import type { Command, Publish } from '../world/command';
import type {
  BindingDefinition,
  ExchangeDefinition,
  JsonObject,
  PolicyDefinition,
  QueueDefinition,
} from '../world/topology';
import type { State } from '../world/state';
import { code } from '../world/words';
import { getter, type Setup, World } from '../world/world';

const table = (of: JsonObject | undefined): string => (of === undefined ? '' : `toFieldTable(${code(of)})`);

/** The world and its commands as a spec for vitest, with the present state as what is expected. */
export function specOf(setup: Setup, commands: readonly Command[], { queues }: State): string {
  if (commands.some((command) => command.do === 'restart'))
    return '// A restart needs a data directory, so it is no part of such a test.\n// Go back to a moment before the restart.\n';
  const { exchanges = [], queues: declared = [], bindings = [], policies = [] } = setup.topology;
  const refused = new Set(
    World.replay(setup, commands).events.flatMap((event) => (event.kind === 'refused' ? [event.command] : [])),
  );
  const clients = new Map<string, string>();
  const made = { count: 0 };
  const client = (name: string): readonly string[] => {
    clients.set(name, `client${++made.count}`);
    return [`const client${made.count} = client();`];
  };
  const lines = [
    ...exchanges.map((each) => once(exchangeCall(each))),
    ...declared.map((each) => once(queueCall(each))),
    ...bindings.map((each) => once(bindCall('bind', each))),
    ...policies.map(policyLine),
    ...commands.flatMap((command) => {
      const needs =
        (command.do === 'consume' && !clients.has(command.consumer)) || (command.do === 'get' && !clients.has(getter));
      const isRefused = refused.has(command);
      // The page alone refuses what is done with a consumer that does not exist, or holds no such message.
      if (isRefused && 'consumer' in command && !needs) return [];
      const before = needs ? client(command.do === 'consume' ? command.consumer : getter) : [];
      const line = lineOf(command, (name) => clients.get(name) ?? '');
      if (command.do === 'cancel' || (isRefused && command.do === 'consume')) clients.delete(command.consumer);
      if (isRefused && command.do === 'get') clients.delete(getter);
      return [...before, isRefused ? `expect(() => { ${line} }).toThrow();` : line];
    }),
    ...queues.map(({ name, messages, length }) =>
      length > messages.length
        ? `expect(queue(${code(name)}).ready).toBe(${length});`
        : `expect(holds(${code(name)})).toEqual(${code(
            messages.map(({ body, deaths }) =>
              [body, ...deaths.map(({ queue, reason, count }) => `${queue} ${reason} ${count}`)].join(', '),
            ),
          )});`,
    ),
  ].map((line) => `  ${line}\n`);
  const text = lines.join('');
  const imports = ['silentOutbox', 'toFieldTable'].filter((name) => name === 'silentOutbox' || text.includes(name));
  return `import { ${imports.join(', ')} } from 'dlx-broker/engine';
import { harness } from 'dlx-broker/testing';
import { expect, it } from 'vitest';

it('ends as in the playground', () => {
  const { broker, ${text.includes('clock.') ? 'clock, ' : ''}queue } = harness({ rabbitmq: ${code(setup.profile)} });
  const once = (user?: string) => broker.connect(user === undefined ? {} : { user }).openChannel(silentOutbox);
${text.includes('.setPolicy') || text.includes('.deletePolicy') ? "  const vhost = broker.virtualHost('/');\n" : ''}${text.includes('client()') ? clientHelper : ''}${text.includes('holds(') ? holdsHelper : ''}${text}});
`;
}

const clientHelper = `  const client = () => {
    const tags: number[] = [];
    const deliver = ({ deliveryTag }: { deliveryTag: number }) => void tags.push(deliveryTag);
    const channel = broker.connect().openChannel({ ...silentOutbox, deliver });
    return { channel, tags, take: (at = 0) => tags.splice(at, 1)[0] ?? 0 };
  };
`;

const holdsHelper = `  const holds = (name: string) =>
    queue(name)
      .messages()
      .map(({ body, deaths }) =>
        [new TextDecoder().decode(body), ...deaths.map((death) => \`\${death.queue} \${death.reason} \${death.count}\`)].join(', '),
      );
`;

const once = (call: string, user?: string): string => `once(${user === undefined ? '' : code(user)}).${call};`;

function exchangeCall({
  name,
  type,
  durable = true,
  auto_delete,
  internal,
  arguments: of,
}: ExchangeDefinition): string {
  const flags = `${auto_delete === true ? ', autoDelete: true' : ''}${internal === true ? ', internal: true' : ''}`;
  return `declareExchange(${code(name)}, { type: ${code(type)}, durable: ${durable}${flags}${of === undefined ? '' : `, arguments: ${table(of)}`} })`;
}

function queueCall({ name, durable = true, auto_delete, arguments: of }: QueueDefinition): string {
  return `declareQueue(${code(name)}, { durable: ${durable}${auto_delete === true ? ', autoDelete: true' : ''}${of === undefined ? '' : `, arguments: ${table(of)}`} })`;
}

function bindCall(
  how: 'bind' | 'unbind',
  { source, destination, destination_type, routing_key = '', arguments: of }: BindingDefinition,
): string {
  const kind = destination_type === 'exchange' ? 'Exchange' : 'Queue';
  const last = of === undefined ? '' : `, ${table(of)}`;
  return `${how}${kind}(${[destination, source, routing_key].map(code).join(', ')}${last})`;
}

const policyLine = ({
  name,
  pattern,
  definition,
  'apply-to': applyTo = 'all',
  priority = 0,
}: PolicyDefinition): string => `vhost.setPolicy(${code(name)}, ${code({ pattern, definition, applyTo, priority })});`;

function publishLine(command: Publish): string {
  const { exchange = '', key, body = '', headers, expiration, priority, cc, bcc, persistent, count = 1 } = command;
  const all = { ...headers, ...(cc === undefined ? {} : { CC: cc }), ...(bcc === undefined ? {} : { BCC: bcc }) };
  const properties = [
    `deliveryMode: ${persistent === false ? 1 : 2}`,
    ...(Object.keys(all).length === 0 ? [] : [`headers: ${table(all)}`]),
    ...(expiration === undefined ? [] : [`expiration: ${code(expiration)}`]),
    ...(priority === undefined ? [] : [`priority: ${priority}`]),
  ].join(', ');
  const bytes = count === 1 ? code(body) : body === '' ? '`${at}`' : `${code(`${body} `)} + at`;
  const line = `once().publish(${code(exchange)}, ${code(key)}, { ${properties} }, Buffer.from(${bytes}));`;
  return count === 1 ? line : `for (let at = 1; at <= ${count}; at++) ${line}`;
}

function lineOf(command: Command, client: (name: string) => string): string {
  switch (command.do) {
    case 'publish':
      return publishLine(command);
    case 'consume': {
      const { queue, consumer, prefetch = 1, noAck = false } = command;
      const channel = `${client(consumer)}.channel`;
      return `${channel}.qos(${prefetch}), ${channel}.consume(${code(queue)}, ${code({ consumerTag: consumer, noAck })});`;
    }
    case 'cancel':
      return `${client(command.consumer)}.channel.connection.close();`;
    case 'get': {
      const { channel, tags } = { channel: `${client(getter)}.channel`, tags: `${client(getter)}.tags` };
      return `${tags}.push(...[${channel}.get(${code(command.queue)})].flatMap((got) => got?.deliveryTag ?? []));`;
    }
    case 'ack':
    case 'reject':
    case 'nack': {
      const { do: how, consumer, held = '', requeue = false } = command;
      const rest = how === 'ack' ? '' : how === 'nack' ? `, false, ${requeue}` : `, ${requeue}`;
      return `${client(consumer)}.channel.${how}(${client(consumer)}.take(${held})${rest});`;
    }
    case 'declare-exchange':
      return once(exchangeCall(command.exchange), command.user);
    case 'declare-queue':
      return once(queueCall(command.queue), command.user);
    case 'delete-exchange':
      return once(`deleteExchange(${code(command.exchange)})`);
    case 'delete-queue':
      return once(`deleteQueue(${code(command.queue)})`);
    case 'bind':
    case 'unbind':
      return once(bindCall(command.do, command.binding));
    case 'policy':
      return policyLine(command.policy);
    case 'clear-policy':
      return `expect(vhost.deletePolicy(${code(command.name)})).toBe(true);`;
    case 'permissions': {
      const { user, configure, write, read } = command;
      return `broker.access.setUser(${code(user)}), broker.access.setPermissions(${code(user)}, '/', ${code({ configure, write, read })});`;
    }
    case 'purge':
      return once(`purgeQueue(${code(command.queue)})`);
    case 'restart':
      return '';
    case 'wait':
      return `clock.advance(${command.ms});`;
  }
}
