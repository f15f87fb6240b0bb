import { type FieldTable, isPredeclared } from '../../engine/message/index.js';
import { flag, optionsOf, refused, refuseUnknown, text } from '../../platform/options/index.js';
import type { Contributions, MentionedExchange } from './collect.js';
import { checkedArguments, checkedName, routingKeysOf } from './declared-parts.js';
import { type QueueOption, readQueue } from './queue-option.js';
import type { BindingDeclaration, ExchangeDeclaration, ExchangeType, QueueDeclaration } from './topology.js';

/** How an exchange is declared. */
export interface ExchangeProperties {
  /** Default `topic`. */
  readonly type?: ExchangeType;
  /** Survives a restart of the broker. Default true. */
  readonly durable?: boolean;
  readonly autoDelete?: boolean;
  readonly internal?: boolean;
  /** The exchange that gets messages which this one cannot route. */
  readonly alternateExchange?: string;
  readonly arguments?: Readonly<Record<string, unknown>> | FieldTable;
  /** False: the exchange exists already and is not declared. */
  readonly declare?: boolean;
}

/** An exchange of the option `topology`. */
export interface ExchangeOption extends ExchangeProperties {
  readonly name: string;
}

/** A binding of the option `topology`: from an exchange to a queue, or to another exchange. */
export interface BindingOption {
  readonly source: string;
  readonly destination: string;
  /** Default `queue`. */
  readonly destinationType?: 'queue' | 'exchange';
  /** One key or several; default `''`. */
  readonly routingKey?: string | readonly string[];
  /** For headers exchanges: `{ 'x-match': 'any', kind: 'invoice' }`. */
  readonly arguments?: Readonly<Record<string, unknown>> | FieldTable;
}

/** Exchanges, queues and bindings as users write them: names, plain objects with defaults, or full declarations. */
export interface TopologyOption {
  readonly exchanges?: readonly (string | ExchangeOption | ExchangeDeclaration)[];
  readonly queues?: readonly (string | QueueOption | QueueDeclaration)[];
  readonly bindings?: readonly (BindingOption | BindingDeclaration)[];
}

/** Binds a queue to an exchange, for option `topology` or `forFeature`. */
export const binding = (
  exchange: string,
  queue: string,
  routingKey: string | readonly string[] = '',
  headers: Readonly<Record<string, unknown>> = {},
): BindingOption => ({ source: exchange, destination: queue, routingKey, arguments: headers });

/**
 * Reads the declarations of a module besides its handlers. An exchange that is only mentioned, by `deadLetter` or a binding, is
 * declared as well, as it is for decorators.
 * @param origin where it is written: `option 'topology' of DlxBrokerModule`
 * @throws DlxConfigurationError naming the queue, exchange or binding, the property and a remedy
 */
export function readTopology(given: unknown, origin: string): Required<Contributions> {
  const known = ['exchanges', 'queues', 'bindings'];
  const option = optionsOf(given, origin, 'write { queues: [], exchanges: [], bindings: [] }', known);
  const mentioned: MentionedExchange[] = [];
  const foreign = new Set<string>();
  const exchanges: ExchangeDeclaration[] = [];
  const listed = listOf(option, 'exchanges', origin).map((each, index) => readExchange(each, index, origin));
  for (const { declaration, declare, alternateExchange } of listed) {
    if (declare && !isPredeclared(declaration.name)) exchanges.push(declaration);
    else foreign.add(declaration.name);
    if (alternateExchange !== undefined) mentioned.push({ name: alternateExchange, origin });
  }
  const queues = listOf(option, 'queues', origin).map((each) => {
    const queue = readQueue(each, origin);
    const exchange = queue.arguments.get('x-dead-letter-exchange');
    // An exchange in a raw argument may be declared later (rule F2). One in the option `deadLetter` is declared, as by the decorator.
    const isProperty = typeof each === 'object' && each !== null && 'deadLetter' in each;
    if (isProperty && exchange?.type === 'S') mentioned.push({ name: exchange.value, origin: queue.origin ?? origin });
    return queue;
  });
  const bindings = listOf(option, 'bindings', origin).flatMap((each, index) =>
    readBinding(each, `bindings[${index}] of ${origin}`),
  );
  for (const { source } of bindings) mentioned.push({ name: source, origin });
  return { parts: [{ exchanges, queues, bindings }], mentioned, foreign };
}

function listOf(option: Readonly<Record<string, unknown>>, name: string, origin: string): readonly unknown[] {
  const list = option[name];
  if (list === undefined) return [];
  if (Array.isArray(list)) return list as readonly unknown[];
  throw refused(list, `${name} of ${origin}`, 'is not a list; write [...]');
}

interface ReadExchange {
  readonly declaration: ExchangeDeclaration;
  readonly declare: boolean;
  readonly alternateExchange: string | undefined;
}

const exchangeFlags = ['durable', 'autoDelete', 'internal'];
const exchangeProperties = ['name', 'type', ...exchangeFlags, 'alternateExchange', 'arguments', 'declare'];

function readExchange(given: unknown, index: number, where: string): ReadExchange {
  const at = `exchanges[${index}] of ${where}`;
  const option =
    typeof given === 'string' ? { name: given } : optionsOf(given, at, "write a name, or { name: 'shop' }");
  refuseUnknown(option, 'origin' in option ? [...exchangeProperties, 'origin'] : exchangeProperties, at);
  return checkedExchange(option, at, typeof option['origin'] === 'string' ? option['origin'] : where);
}

/**
 * @param at where it is written, for errors
 * @param origin the place of the declaration, for the topology
 * @throws DlxConfigurationError
 */
function checkedExchange(option: Readonly<Record<string, unknown>>, at: string, origin: string): ReadExchange {
  const name = checkedName(option['name'], `name of ${at}`);
  const flagOf = (property: string, preset: boolean): boolean =>
    option[property] === undefined ? preset : (flag.read(option[property], `${property} of ${at}`).value as boolean);
  const type = option['type'] === undefined ? 'topic' : (text.read(option['type'], `type of ${at}`).value as string);
  const alternate = option['alternateExchange'];
  const args = new Map(checkedArguments(option['arguments'], `arguments of ${at}`));
  if (alternate !== undefined) args.set('alternate-exchange', text.read(alternate, `alternateExchange of ${at}`));
  return {
    declaration: {
      name,
      type,
      durable: flagOf('durable', true),
      autoDelete: flagOf('autoDelete', false),
      internal: flagOf('internal', false),
      arguments: args,
      origin,
    },
    declare: flagOf('declare', true),
    alternateExchange: alternate as string | undefined,
  };
}

const bindingProperties: readonly string[] = ['source', 'destination', 'destinationType', 'routingKey', 'arguments'];

function readBinding(given: unknown, at: string): readonly BindingDeclaration[] {
  const option = optionsOf(given, at, "write { source: 'exchange', destination: 'queue', routingKey: 'key' }");
  refuseUnknown(option, 'origin' in option ? [...bindingProperties, 'origin'] : bindingProperties, at);
  const { destinationType = 'queue', routingKey = '' } = option;
  if (destinationType !== 'queue' && destinationType !== 'exchange') {
    throw refused(destinationType, `destinationType of ${at}`, "is neither 'queue' nor 'exchange'");
  }
  if (option['source'] === '') {
    throw refused('', `source of ${at}`, 'is the default exchange, to which nothing can be bound');
  }
  const source = checkedName(option['source'], `source of ${at}`);
  const destination = checkedName(option['destination'], `destination of ${at}`);
  const args = checkedArguments(option['arguments'], `arguments of ${at}`);
  const origin = typeof option['origin'] === 'string' ? option['origin'] : at;
  return routingKeysOf(routingKey, at).map((key) => {
    return { source, destination, destinationType, routingKey: key, arguments: args, origin };
  });
}
