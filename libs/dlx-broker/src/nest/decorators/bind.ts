import { contribute } from './contribution.js';

/**
 * Adds a binding of the handler's queue to an exchange. For a topic exchange `*` matches one word and `#` any number of words,
 * anywhere in the key.
 * @param headers arguments of the binding, for headers exchanges: `{ 'x-match': 'any', kind: 'invoice' }`
 */
export function Bind(
  exchange: string,
  routingKey?: string | readonly string[],
  headers?: Readonly<Record<string, unknown>>,
): MethodDecorator;
export function Bind(...given: readonly unknown[]): MethodDecorator {
  const [exchange, routingKey, headers] = given;
  const keys = given.length > 1 ? routingKey : '';
  return contribute('Bind', { exchange, routingKey: keys, arguments: given.length > 2 ? headers : {} });
}
