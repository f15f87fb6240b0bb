import { preconditionFailed } from '../errors.js';
import { checkSameArgument, checkSameProperty } from '../equivalence.js';
import { fieldTypeNames } from '../../message/index.js';
import type { FieldTable } from '../../message/index.js';

/** The properties of an exchange that a redeclare compares. */
export interface ExchangeIdentity {
  readonly type: string;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: FieldTable;
}

/** Checks that an existing exchange has the properties of a redeclare (rule P2). @throws 406 that names the first difference */
export function checkEquivalent(
  exchange: string,
  vhost: string,
  existing: ExchangeIdentity,
  asked: ExchangeIdentity,
): void {
  const where = `exchange '${exchange}' in vhost '${vhost}'`;
  checkSameProperty('type', existing.type, asked.type, where);
  checkSameProperty('durable', existing.durable, asked.durable, where);
  checkSameProperty('auto_delete', existing.autoDelete, asked.autoDelete, where);
  checkSameProperty('internal', existing.internal, asked.internal, where);
  const name = 'alternate-exchange';
  checkSameArgument(name, existing.arguments.get(name), asked.arguments.get(name), where);
}

/** Checks that the alternate exchange of a new exchange is a name (rule P6). @throws 406 */
export function checkAlternateExchange(exchange: string, vhost: string, args: FieldTable): void {
  const value = args.get('alternate-exchange');
  if (value === undefined || value.type === 'S') return;
  const type = fieldTypeNames[value.type];
  throw preconditionFailed(
    `invalid type '${type}' for arg 'alternate-exchange' in exchange '${exchange}' in vhost '${vhost}'`,
  );
}
