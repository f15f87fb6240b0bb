import type { Command, Publish } from './command.js';
import type { Json, QueueDefinition } from './topology.js';

/** A command as the line that does it; a client cannot do everything, and neither can an operator. */
export interface Words {
  /** JavaScript with amqplib. */
  readonly amqplib?: string;
  /** A command of RabbitMQ's tools. */
  readonly rabbitmqctl?: string;
  /** The call, decorator or option of dlx-broker. */
  readonly library?: string;
}

/** A value as JavaScript. */
function js(value: unknown): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(js).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).flatMap(([name, each]) =>
    each === undefined ? [] : [`${/^[A-Za-z_]\w*$/.test(name) ? name : js(name)}: ${js(each)}`],
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** A call, without arguments at the end that say nothing. */
const call = (name: string, ...values: readonly unknown[]): string => {
  const given = values.map((value) => (value === undefined ? '{}' : js(value)));
  while (given.at(-1) === '{}') given.pop();
  return `${name}(${given.join(', ')})`;
};

const channel = (method: string, ...values: readonly unknown[]): Words => ({
  amqplib: call(`channel.${method}`, ...values),
});

/** A command line. */
const ctl = (...words: readonly string[]): Words => ({
  rabbitmqctl: [
    'rabbitmqctl',
    ...words.map((word) => (/^[\w.:/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)),
  ].join(' '),
});

const publish = ({
  exchange = '',
  key,
  body = '',
  headers,
  expiration,
  priority,
  cc,
  bcc,
  persistent = true,
}: Publish): Words => {
  const address = exchange === '' ? { queue: key } : { exchange };
  const options = { persistent, expiration, priority, CC: cc, BCC: bcc, headers };
  const calls = { Expiration: expiration, Priority: priority, Headers: headers, Cc: cc, Bcc: bcc };
  const record = Object.entries(calls).flatMap(([name, value]) =>
    value === undefined ? [] : [`.set${name}(${Array.isArray(value) ? value.map(js).join(', ') : js(value)})`],
  );
  const data = record.length === 0 ? js(body) : `new DlxRecordBuilder(${js(body)})${record.join('')}.build()`;
  return {
    amqplib: `channel.publish(${js(exchange)}, ${js(key)}, Buffer.from(${js(body)}), ${js(options)})`,
    library: `client.to(${js(address)}).emit(${js(key)}, ${data})`,
  };
};

/** The decorators of a handler for a queue with these arguments. */
function decorators({ name, arguments: table = {} }: QueueDefinition): string {
  const {
    'x-dead-letter-exchange': exchange,
    'x-dead-letter-routing-key': routingKey,
    'x-dead-letter-strategy': strategy,
    'x-message-ttl': ttl,
    'x-expires': expires,
    'x-max-length': maxLength,
    'x-overflow': overflow,
    'x-queue-type': type,
    'x-delivery-limit': deliveryLimit,
    'x-max-priority': maxPriority,
    ...others
  } = table as Readonly<Record<string, Json | undefined>>;
  const quorum = type === 'quorum' ? call('@Quorum', deliveryLimit === undefined ? undefined : { deliveryLimit }) : '';
  return [
    call('@Consume', { queue: name }),
    exchange === undefined
      ? ''
      : strategy === undefined
        ? call('@DeadLetter', exchange, routingKey)
        : call('@DeadLetter', { exchange, routingKey, strategy }),
    ttl === undefined ? '' : call('@Ttl', ttl),
    expires === undefined ? '' : call('@Expires', expires),
    maxLength === undefined ? '' : call('@MaxLength', maxLength, overflow),
    quorum,
    maxPriority === undefined ? '' : call('@MaxPriority', maxPriority),
    Object.keys(others).length === 0 ? '' : call('@QueueArguments', others),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** The lines for a command. */
export function wordsOf(command: Command): Words {
  switch (command.do) {
    case 'publish':
      return publish(command);
    case 'ack':
      return { amqplib: 'channel.ack(message)', library: '// the handler returns' };
    case 'reject':
    case 'nack': {
      const { requeue = false } = command;
      const amqplib =
        command.do === 'nack' ? `channel.nack(message, false, ${requeue})` : `channel.reject(message, ${requeue})`;
      return { amqplib, library: requeue ? 'context.requeue()' : "throw new Reject('why')" };
    }
    case 'consume': {
      const { queue, prefetch = 1, noAck } = command;
      const consumed = call('channel.consume', queue).replace(
        /\)$/,
        `, onMessage${noAck === true ? ', { noAck: true }' : ''})`,
      );
      return {
        amqplib: `channel.prefetch(${prefetch}); ${consumed}`,
        library: `@Consume(${js({ queue })}) @Prefetch(${prefetch})`,
      };
    }
    case 'cancel':
      return { amqplib: 'connection.close()' };
    case 'get':
      return channel('get', command.queue);
    case 'declare-exchange': {
      const { name, type, durable, auto_delete: autoDelete, internal, arguments: table } = command.exchange;
      const library = `topology: { exchanges: [${js({ name, type, internal, arguments: table })}] }`;
      return { ...channel('assertExchange', name, type, { durable, autoDelete, internal, arguments: table }), library };
    }
    case 'delete-exchange':
      return channel('deleteExchange', command.exchange);
    case 'declare-queue': {
      const { name, durable, auto_delete: autoDelete, arguments: table } = command.queue;
      return {
        ...channel('assertQueue', name, { durable, autoDelete, arguments: table }),
        library: decorators(command.queue),
      };
    }
    case 'delete-queue':
      return { ...channel('deleteQueue', command.queue), ...ctl('delete_queue', command.queue) };
    case 'bind':
    case 'unbind': {
      const { source, destination, destination_type, routing_key = '', arguments: table } = command.binding;
      const lines = channel(
        `${command.do}${destination_type === 'exchange' ? 'Exchange' : 'Queue'}`,
        destination,
        source,
        routing_key,
        table,
      );
      const bound = call('binding', source, destination, routing_key, table);
      return command.do === 'bind' ? { ...lines, library: `topology: { bindings: [${bound}] }` } : lines;
    }
    case 'policy': {
      const { name, pattern, definition, 'apply-to': applyTo = 'all', priority = 0 } = command.policy;
      const options = ['--apply-to', applyTo, '--priority', String(priority)];
      return {
        ...ctl('set_policy', name, pattern, JSON.stringify(definition), ...options),
        library: call("broker.virtualHost('/').setPolicy", name, { pattern, applyTo, priority, definition }),
      };
    }
    case 'clear-policy':
      return ctl('clear_policy', command.name);
    case 'permissions': {
      const { user, configure, write, read } = command;
      return {
        ...ctl('set_permissions', user, configure, write, read),
        library: call('broker.access.setPermissions', user, '/', { configure, write, read }),
      };
    }
    case 'purge':
      return { ...channel('purgeQueue', command.queue), ...ctl('purge_queue', command.queue) };
    case 'restart':
      return { rabbitmqctl: 'rabbitmqctl stop_app && rabbitmqctl start_app' };
    case 'wait':
      return {};
  }
}
