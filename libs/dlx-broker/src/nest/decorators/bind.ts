import { contribute } from './contribution.js';

/**
 * Binds the handler's queue to an exchange once more. Of a topic exchange, `*` stands for one word and `#` for any
 * number of words, anywhere in the key.
 * @param headers arguments of the binding, for headers exchanges: `{ 'x-match': 'any', kind: 'invoice' }`
 */
export const Bind = (
  exchange: string,
  routingKey: string | readonly string[] = '',
  headers: Readonly<Record<string, unknown>> = {},
): MethodDecorator => contribute('Bind', { exchange, routingKey, arguments: headers });
