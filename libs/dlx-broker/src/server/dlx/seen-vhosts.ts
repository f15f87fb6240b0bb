import type { VirtualHost } from '../../engine/broker/index.js';
import { checkVhost } from '../http/auth.js';
import type { ApiRequest } from '../http/resource.js';
import type { Management } from '../management.js';

/**
 * The virtual host of the parameter `vhost`, or all that the user may see, sorted by name.
 * @throws Problem 404 without such a virtual host, 401 if it is closed to the user
 */
export function seenVhosts({ query, user }: ApiRequest, management: Management): readonly VirtualHost[] {
  const name = query.get('vhost');
  if (name === null) return management.vhostsOf(user);
  checkVhost(management.broker, user, name, 'GET');
  return [management.vhost(name)];
}
