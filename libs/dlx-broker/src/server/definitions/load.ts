import type { ManagementHost } from '../host.js';
import { Management } from '../management.js';
import { declarationKeys } from './declare-all.js';
import { partKeys } from './import.js';
import { listIn } from './lists.js';
import { addDefinitionsAtOnce } from './read.js';

/**
 * Adds the definitions of a file to a broker, as `POST /api/definitions` does.
 * @param text JSON in the format of RabbitMQ
 * @param withoutUsers called before the definitions are added, if they name no user
 * @returns the keys that no part of a broker has
 * @throws Problem whose message says what is wrong
 */
export function loadDefinitions(
  host: Pick<ManagementHost, 'broker' | 'now' | 'patterns'>,
  text: string,
  withoutUsers: () => void = () => {},
): readonly string[] {
  const definitions = addDefinitionsAtOnce(new Management(host), text, (read) => {
    if (listIn(read, 'users').length === 0) withoutUsers();
  });
  return Object.keys(definitions).filter((key) => !isKnown(key));
}

/** Keys of RabbitMQ that say where definitions come from. */
const origins = new Set([
  'rabbit_version',
  'rabbitmq_version',
  'rabbitmq_definition_format',
  'product_name',
  'product_version',
  'original_vhost_name',
  'original_cluster_name',
  'explanation',
  'description',
  'metadata',
]);

const isKnown = (key: string): boolean => origins.has(key) || partKeys.includes(key) || declarationKeys.includes(key);
