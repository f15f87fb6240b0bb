import type { VirtualHost } from '../../engine/broker/index.js';
import { isOf } from '../http/auth.js';
import type { Management } from '../management.js';
import type { ApiRequest } from '../http/resource.js';

/** The virtual hosts of a list: the one in the path, or all that the user may access; administrators may access all. */
export function placesOf({ names, user }: ApiRequest, management: Management): readonly VirtualHost[] {
  const all = vhostsIn(names, management);
  if (names['vhost'] !== undefined || isOf('administrator', user)) return all;
  return all.filter(({ name }) => management.broker.access.mayEnter(user.name, name));
}

/** The virtual host in the path, or all of them. */
export const vhostsIn = ({ vhost }: ApiRequest['names'], management: Management): readonly VirtualHost[] =>
  vhost === undefined ? [...management.broker.virtualHosts.values()] : [management.vhost(vhost)];

/** True if a request asks for declarations only. */
export const withoutStatistics = ({ query }: ApiRequest): boolean => query.get('disable_stats') === 'true';
