import type { ManagementHost } from '../host.js';
import { Management } from '../management.js';
import { addDefinitionsAtOnce } from './read.js';

/**
 * Adds the definitions of a file to a broker, as `POST /api/definitions` does.
 * @param text JSON in the format of RabbitMQ
 * @throws Problem whose message says what is wrong
 */
export function loadDefinitions(host: Pick<ManagementHost, 'broker' | 'now' | 'patterns'>, text: string): void {
  addDefinitionsAtOnce(new Management(host), text);
}
