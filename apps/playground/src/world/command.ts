import type { Properties } from '../../../../libs/dlx-broker/src/engine/message/index.js';
import { checkFields, Misread } from './fields.js';
import {
  type BindingDefinition,
  bindingFields,
  type ExchangeDefinition,
  exchangeFields,
  type JsonObject,
  type PolicyDefinition,
  policyFields,
  type QueueDefinition,
  queueFields,
  tableOf,
} from './topology.js';

export interface Publish {
  readonly do: 'publish';
  /** Default: the default exchange, whose name is empty. */
  readonly exchange?: string;
  readonly key: string;
  readonly body?: string;
  readonly headers?: JsonObject;
  /** Milliseconds, as a text, as AMQP has it. */
  readonly expiration?: string;
  readonly priority?: number;
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  /** Default true. */
  readonly persistent?: boolean;
  /** How many; from the second on the bodies get a number. Default 1. */
  readonly count?: number;
}

export interface Consume {
  readonly do: 'consume';
  readonly queue: string;
  /** The consumer tag. */
  readonly consumer: string;
  /** Unacknowledged messages at most; default 1, 0 for any number. */
  readonly prefetch?: number;
  readonly noAck?: boolean;
}

/** Settles one message that a consumer holds. */
export interface Settle {
  readonly do: 'ack' | 'reject' | 'nack';
  /** A consumer, or `get` for what `get` took. */
  readonly consumer: string;
  /** Which of the messages that it holds, the oldest is 0. Default 0. */
  readonly held?: number;
  /** Not for `ack`. Default false. */
  readonly requeue?: boolean;
}

/** The rights of a user, as patterns of names. */
export interface Permit {
  readonly do: 'permissions';
  readonly user: string;
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

/** One thing that a reader does, as JSON. */
export type Command =
  | Publish
  | Consume
  | Settle
  | { readonly do: 'cancel'; readonly consumer: string }
  | { readonly do: 'get'; readonly queue: string }
  | { readonly do: 'declare-exchange'; readonly exchange: ExchangeDefinition; readonly user?: string }
  | { readonly do: 'delete-exchange'; readonly exchange: string }
  | { readonly do: 'declare-queue'; readonly queue: QueueDefinition; readonly user?: string }
  | { readonly do: 'delete-queue'; readonly queue: string }
  | { readonly do: 'bind' | 'unbind'; readonly binding: BindingDefinition }
  | { readonly do: 'policy'; readonly policy: PolicyDefinition }
  | { readonly do: 'clear-policy'; readonly name: string }
  | Permit
  | { readonly do: 'purge'; readonly queue: string }
  | { readonly do: 'restart' }
  /** @param ms milliseconds of virtual time */
  | { readonly do: 'wait'; readonly ms: number };

export type CommandName = Command['do'];

const commandFields: Readonly<Record<CommandName, string>> = {
  publish:
    'exchange?:name key:name body?:text headers?:table expiration?:name priority?:amount cc?:names bcc?:names persistent?:flag count?:amount',
  consume: 'queue:name consumer:name prefetch?:amount noAck?:flag',
  ack: 'consumer:name held?:amount',
  reject: 'consumer:name held?:amount requeue?:flag',
  nack: 'consumer:name held?:amount requeue?:flag',
  cancel: 'consumer:name',
  get: 'queue:name',
  'declare-exchange': 'exchange:table user?:name',
  'delete-exchange': 'exchange:name',
  'declare-queue': 'queue:table user?:name',
  'delete-queue': 'queue:name',
  bind: 'binding:table',
  unbind: 'binding:table',
  policy: 'policy:table',
  'clear-policy': 'name:name',
  permissions: 'user:name configure:text write:text read:text',
  purge: 'queue:name',
  restart: '',
  wait: 'ms:amount',
};

/** The most commands in a history. */
export const maxCommands = 2_000;

/** Reads a history of commands, for example out of a link. @throws Misread that names the command and the field */
export function readCommands(value: unknown): readonly Command[] {
  if (!Array.isArray(value)) throw new Misread('the commands are not a list');
  if (value.length > maxCommands) throw new Misread(`${value.length} commands, and ${maxCommands} are the most`);
  return value.map((each, index) => readCommand(each, `commands[${index}]`));
}

/** @throws Misread */
export function readCommand(value: unknown, where = 'the command'): Command {
  const name: unknown = (value as { readonly do?: unknown } | null | undefined)?.do;
  if (typeof name !== 'string' || !Object.hasOwn(commandFields, name))
    throw new Misread(`${where}: 'do' is none of ${Object.keys(commandFields).join(', ')}`);
  checkFields(value, `do:name ${commandFields[name as CommandName]}`.trim(), where);
  const command = value as Command;
  if (command.do === 'declare-exchange') checkFields(command.exchange, exchangeFields, `${where}.exchange`);
  if (command.do === 'declare-queue') checkFields(command.queue, queueFields, `${where}.queue`);
  if (command.do === 'bind' || command.do === 'unbind') checkFields(command.binding, bindingFields, `${where}.binding`);
  if (command.do === 'policy') checkFields(command.policy, policyFields, `${where}.policy`);
  return command;
}

/** The bodies of the messages of a publish. */
export const bodiesOf = ({ body = '', count = 1 }: Publish): readonly string[] =>
  count === 1 ? [body] : Array.from({ length: count }, (_, index) => `${body} ${index + 1}`.trim());

/** The properties of its messages. @throws TypeError for a header that cannot be sent */
export function propertiesOf({ headers, cc, bcc, persistent = true, expiration, priority }: Publish): Properties {
  const table = tableOf({ ...headers, ...(cc && { CC: cc }), ...(bcc && { BCC: bcc }) });
  return { deliveryMode: persistent ? 2 : 1, ...(table.size > 0 && { headers: table }), expiration, priority };
}
