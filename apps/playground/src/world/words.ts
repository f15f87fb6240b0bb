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

/** What a terminal obeys, and what turns the direction of a line: pasted, it must not be there as it is. */
const unseen = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const escaped = (text: string, which = unseen): string =>
  text.replace(which, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A value as JavaScript with double quotes. */
export const code = (value: unknown): string =>
  escaped((JSON.stringify(value) ?? 'undefined').replace(/(?<!\\)"__proto__":/g, '["__proto__"]:'));

/** A value as JavaScript. */
function js(value: unknown): string {
  if (typeof value === 'string')
    return `'${escaped(JSON.stringify(value).slice(1, -1)).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(js).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const given = Object.entries(value).filter(([, each]) => each !== undefined);
  const field = (name: string): string =>
    /^[A-Za-z]\w*$/.test(name) ? name : name === '__proto__' ? `['${name}']` : js(name);
  const fields = given.map(([name, each]) => `${field(name)}: ${js(each)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** A call, without arguments at the end that say nothing. */
function call(name: string, ...values: readonly unknown[]): string {
  const given = values.map((value) => (value === undefined ? '{}' : js(value)));
  while (given.at(-1) === '{}') given.pop();
  return `${name}(${given.join(', ')})`;
}

const channel = (method: string, ...values: readonly unknown[]): Words => ({
  amqplib: call(`channel.${method}`, ...values),
});

/** A word of a shell: bash, zsh and ksh know `$'...'`. */
function quoted(word: string): string {
  if (/^[\w.:/-]+$/.test(word)) return word;
  if (word.search(unseen) === -1) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${escaped(escaped(word, /['\\!]/g))}'`;
}

/** A command of an operator. A name that begins with a dash must be no option. */
function ctl(command: string, names: readonly string[], options: readonly string[] = []): Words {
  const words = names.some((name) => name.startsWith('-')) ? [...options, '--', ...names] : [...names, ...options];
  return { rabbitmqctl: ['rabbitmqctl', command, ...words].map(quoted).join(' ') };
}

function publish({ exchange = '', key, body = '', persistent = true, ...others }: Publish): Words {
  const { expiration, priority, headers, cc = [], bcc = [] } = others;
  const copies = { ...(cc.length > 0 && { CC: cc }), ...(bcc.length > 0 && { BCC: bcc }) };
  const options = js({ persistent, expiration, priority, ...copies, headers });
  const ttl = expiration === undefined ? undefined : Number(expiration);
  const setters = {
    Exchange: [exchange],
    Expiration: [ttl],
    Priority: [priority],
    Headers: [headers],
    Cc: cc,
    Bcc: bcc,
  };
  const set = Object.entries(setters).filter(([, [first]]) => first !== undefined);
  const record = set.map(([name, values]) => call(`.set${name}`, ...values)).join('');
  return {
    amqplib: `channel.publish(${js(exchange)}, ${js(key)}, Buffer.from(${js(body)}), ${options})`,
    library: `client.emit(${js(key)}, new DlxRecordBuilder(${js(body)})${record}.build())`,
  };
}

/** Decorators with one argument, by the argument of the queue. */
const decorators = new Map([
  ['x-message-ttl', 'Ttl'],
  ['x-expires', 'Expires'],
  ['x-max-length', 'MaxLength'],
  ['x-max-priority', 'MaxPriority'],
]);

/** The decorators of a handler for a queue. */
function handler({ name, arguments: table = {} }: QueueDefinition): string {
  const {
    'x-dead-letter-exchange': exchange,
    'x-dead-letter-routing-key': routingKey,
    'x-dead-letter-strategy': strategy,
    'x-queue-type': type,
    'x-delivery-limit': deliveryLimit,
    'x-overflow': overflow,
    ...others
  } = table as Readonly<Record<string, Json | undefined>>;
  const lines = [call('@Consume', { queue: name })];
  if (strategy !== undefined) lines.push(call('@DeadLetter', { exchange, routingKey, strategy }));
  else if (exchange !== undefined) lines.push(call('@DeadLetter', exchange, routingKey));
  if (type === 'quorum') lines.push(call('@Quorum', { deliveryLimit }));
  for (const [argument, value] of Object.entries(others)) {
    const decorator = decorators.get(argument);
    if (decorator === undefined) lines.push(call('@QueueArguments', { [argument]: value }));
    else lines.push(call(`@${decorator}`, value, decorator === 'MaxLength' ? { overflow } : undefined));
  }
  return lines.join(' ');
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
      const { do: how, requeue = false } = command;
      const amqplib = `channel.${how}(message, ${how === 'nack' ? 'false, ' : ''}${requeue})`;
      return { amqplib, library: requeue ? 'context.requeue()' : "throw new Reject('why')" };
    }
    case 'consume': {
      const { queue, prefetch = 1, noAck = false } = command;
      const consumed = `channel.consume(${js(queue)}, onMessage, ${js({ noAck })})`;
      const library = `${call('@Consume', { queue })} @Prefetch(${prefetch})`;
      return { amqplib: `channel.prefetch(${prefetch}); ${consumed}`, library };
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
      const declared = channel('assertQueue', name, { durable, autoDelete, arguments: table });
      return { ...declared, library: handler(command.queue) };
    }
    case 'delete-queue':
      return { ...channel('deleteQueue', command.queue), ...ctl('delete_queue', [command.queue]) };
    case 'bind':
    case 'unbind': {
      const { source, destination, destination_type: type, routing_key: key = '', arguments: table } = command.binding;
      const lines = channel(
        `${command.do}${type === 'exchange' ? 'Exchange' : 'Queue'}`,
        destination,
        source,
        key,
        table,
      );
      const bound = call('binding', source, destination, key, table);
      return command.do === 'bind' ? { ...lines, library: `topology: { bindings: [${bound}] }` } : lines;
    }
    case 'policy': {
      const { name, pattern, definition, 'apply-to': applyTo = 'all', priority = 0 } = command.policy;
      const options = ['--apply-to', applyTo, '--priority', String(priority)];
      const library = call("broker.virtualHost('/').setPolicy", name, { pattern, applyTo, priority, definition });
      return { ...ctl('set_policy', [name, pattern, JSON.stringify(definition)], options), library };
    }
    case 'clear-policy':
      return ctl('clear_policy', [command.name]);
    case 'permissions': {
      const { user, configure, write, read } = command;
      const library = call('broker.access.setPermissions', user, '/', { configure, write, read });
      return { ...ctl('set_permissions', [user, configure, write, read]), library };
    }
    case 'purge':
      return { ...channel('purgeQueue', command.queue), ...ctl('purge_queue', [command.queue]) };
    case 'restart':
      return { rabbitmqctl: 'rabbitmqctl stop_app && rabbitmqctl start_app' };
    case 'wait':
      return {};
  }
}
