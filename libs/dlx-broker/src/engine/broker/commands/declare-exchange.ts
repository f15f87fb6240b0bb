import { emptyTable, type FieldTable } from '../../message/index.js';
import type { ChannelContext } from '../channel/context.js';
import { checkedName, withoutLineEnds } from './declare-queue.js';
import { accessRefused, AmqpError, noExchange, preconditionFailed } from '../errors.js';
import { checkAlternateExchange, checkEquivalent } from '../exchange/equivalence.js';
import { routingTypeOf } from '../exchange/delay.js';
import { exchangeTypes, isExchangeType } from '../exchange/types.js';
import { checkLength, checkTable } from './input-checks.js';
import type { VirtualHostCore } from '../virtual-host/core.js';

/** How an exchange is declared: the arguments of exchange.declare. */
export interface ExchangeOptions {
  readonly type?: string;
  readonly passive?: boolean;
  readonly durable?: boolean;
  readonly autoDelete?: boolean;
  readonly internal?: boolean;
  readonly arguments?: FieldTable;
}

/** @throws 403 for the default exchange, which no client may declare, bind or delete (rule P3) */
export function notDefault(name: string): string {
  if (name === '') throw accessRefused('operation not permitted on the default exchange');
  return name;
}

/** `exchange.declare` (section P of the rules). */
export function declareExchange(channel: ChannelContext, name: string, options: ExchangeOptions): void {
  const { vhost } = channel;
  checkLength('exchange name', name);
  checkTable('argument', options.arguments);
  const asked = withoutLineEnds(name);
  if (options.passive === true) {
    if (!vhost.exchanges.has(notDefault(asked))) throw noExchange(asked, vhost.name);
    return;
  }
  const {
    type = 'direct',
    durable = false,
    autoDelete = false,
    internal = false,
    arguments: args = emptyTable,
  } = options;
  if (!isExchangeType(type)) throw unknownType(type, vhost);
  vhost.check(channel.connection.user, 'configure', 'exchange', notDefault(asked));
  const existing = vhost.exchanges.get(asked);
  const declared = { name: asked, type, durable, autoDelete, internal, arguments: args };
  if (existing !== undefined) return checkEquivalent(asked, vhost.name, existing.declared, declared);
  checkedName('exchange', asked);
  checkAlternate(channel, asked, args);
  const routingType = routingTypeOf(declared); // differs from `type` for a delayed exchange
  if (!exchangeTypes.has(routingType)) throw unknownType(routingType, vhost);
  vhost.addExchange(declared);
}

function checkAlternate(channel: ChannelContext, name: string, args: FieldTable): void {
  const { vhost } = channel;
  checkAlternateExchange(name, vhost.name, args);
  const alternate = args.get('alternate-exchange');
  if (alternate?.type !== 'S') return;
  vhost.check(channel.connection.user, 'read', 'exchange', name); // rule N4
  vhost.check(channel.connection.user, 'write', 'exchange', alternate.value);
}

const unknownType = (type: string, vhost: VirtualHostCore): AmqpError => {
  const text = `unknown exchange type '${type}'`;
  return vhost.profile.unknownExchangeTypeIsSoft ? preconditionFailed(text) : new AmqpError('COMMAND_INVALID', text);
};
