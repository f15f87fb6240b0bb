import { type Command, type Publish, type Settle } from './command.js';
import type { BindingDefinition, ExchangeDefinition, PolicyDefinition, QueueDefinition } from './topology.js';

/** A command as the line that does it. */
export interface Words {
  /** JavaScript with amqplib, for what a client can do. */
  readonly amqplib?: string;
  /** A command of RabbitMQ's tools. */
  readonly rabbitmqctl?: string;
  /** The option, decorator or call of dlx-broker. */
  readonly library?: string;
}

/** A value as JavaScript: keys without quotes where possible. */
const js = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/"([A-Za-z_]\w*)":/g, '$1: ')
    .replace(/"([^"]+)":/g, "'$1': ")
    .replace(/"((?:[^"\\']|\\.)*)"/g, "'$1'")
    .replace(/,(?=\S)/g, ', ')
    .replace(/\{(?!\})/g, '{ ')
    .replace(/(?<!\{)\}/g, ' }');

const call = (method: string, ...values: readonly unknown[]): string => {
  const given = values.filter((value) => value !== undefined && !(typeof value === 'object' && js(value) === '{}'));
  return `channel.${method}(${given.map(js).join(', ')})`;
};

/** A word of a shell. */
const sh = (text: string): string => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const rest = (values: object): object | undefined =>
  Object.values(values).some((value) => value !== undefined)
    ? Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
    : undefined;

function publish({
  exchange = '',
  key,
  body = '',
  headers,
  expiration,
  priority,
  cc,
  bcc,
  persistent,
}: Publish): Words {
  const all = { ...headers, CC: cc, BCC: bcc };
  const options = rest({
    expiration,
    priority,
    persistent: persistent === false ? undefined : true,
    headers: rest(all),
  });
  return {
    amqplib: `channel.publish(${js(exchange)}, ${js(key)}, Buffer.from(${js(body)})${options === undefined ? '' : `, ${js(options)}`})`,
    library:
      exchange === ''
        ? `client.emit(${js(key)}, ${js(body)})`
        : `client.emit(${js(key)}, new RecordBuilder(${js(body)}).exchange(${js(exchange)}).build())`,
  };
}

function settle({ do: how, requeue = false }: Settle): Words {
  if (how === 'ack') return { amqplib: 'channel.ack(message)', library: '// the handler returns' };
  if (how === 'nack') return { amqplib: `channel.nack(message, false, ${requeue})` };
  return { amqplib: `channel.reject(message, ${requeue})`, ...(requeue ? {} : { library: `throw new Reject()` }) };
}

const exchange = ({
  name,
  type,
  durable,
  auto_delete: autoDelete,
  internal,
  arguments: table,
}: ExchangeDefinition): Words => ({
  amqplib: call('assertExchange', name, type, rest({ durable, autoDelete, internal, arguments: table })),
  library: `topology: { exchanges: [${js({ name, type })}] }`,
});

const queue = ({ name, durable, auto_delete: autoDelete, arguments: table }: QueueDefinition): Words => ({
  amqplib: call('assertQueue', name, rest({ durable, autoDelete, arguments: table })),
  library: `topology: { queues: [${js(rest({ name, arguments: table }))}] }`,
});

function bind(
  how: 'bind' | 'unbind',
  { source, destination, destination_type, routing_key, arguments: table }: BindingDefinition,
): Words {
  const kind = destination_type === 'exchange' ? 'Exchange' : 'Queue';
  return { amqplib: call(`${how}${kind}`, destination, source, routing_key ?? '', table) };
}

const policy = ({ name, pattern, definition, 'apply-to': applyTo = 'all', priority = 0 }: PolicyDefinition): Words => ({
  rabbitmqctl: `rabbitmqctl set_policy ${sh(name)} ${sh(pattern)} ${sh(JSON.stringify(definition))} --apply-to ${applyTo} --priority ${priority}`,
});

/** The lines for a command. */
export function wordsOf(command: Command): Words {
  switch (command.do) {
    case 'publish':
      return publish(command);
    case 'ack':
    case 'reject':
    case 'nack':
      return settle(command);
    case 'consume': {
      const { queue: from, prefetch = 1, noAck = false } = command;
      const options = noAck ? ', { noAck: true }' : '';
      return {
        amqplib: `await channel.prefetch(${prefetch}); await channel.consume(${js(from)}, onMessage${options})`,
        library: `@MessagePattern(${js(from)})`,
      };
    }
    case 'cancel':
      return { amqplib: 'connection.close()' };
    case 'get':
      return { amqplib: call('get', command.queue) };
    case 'declare-exchange':
      return exchange(command.exchange);
    case 'delete-exchange':
      return { amqplib: call('deleteExchange', command.exchange) };
    case 'declare-queue':
      return queue(command.queue);
    case 'delete-queue':
      return {
        amqplib: call('deleteQueue', command.queue),
        rabbitmqctl: `rabbitmqctl delete_queue ${sh(command.queue)}`,
      };
    case 'bind':
    case 'unbind':
      return bind(command.do, command.binding);
    case 'policy':
      return policy(command.policy);
    case 'clear-policy':
      return { rabbitmqctl: `rabbitmqctl clear_policy ${sh(command.name)}` };
    case 'permissions': {
      const { user, configure, write, read } = command;
      return { rabbitmqctl: `rabbitmqctl set_permissions ${[user, configure, write, read].map(sh).join(' ')}` };
    }
    case 'purge':
      return {
        amqplib: call('purgeQueue', command.queue),
        rabbitmqctl: `rabbitmqctl purge_queue ${sh(command.queue)}`,
      };
    case 'restart':
      return { rabbitmqctl: 'rabbitmqctl stop_app && rabbitmqctl start_app' };
    case 'wait':
      return {};
  }
}
