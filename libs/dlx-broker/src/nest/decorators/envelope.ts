import { oneOf } from '../../platform/options/index.js';

/**
 * What a body is. `nest`: a packet of Nest's RabbitMQ transport, with pattern, data and, of a request, an id. `none`: the data
 * itself.
 */
export type Envelope = 'nest' | 'none';

/** What an option `envelope` accepts. */
export const anEnvelope = oneOf('nest', 'none');
