import type { VirtualHost } from '../../../engine/broker/index.js';
import type { Columns } from '../columns.js';
import { happened, type Measures } from '../../statistics/measures.js';
import { deliveredNames, publishedNames, vhostSeries } from '../../statistics/series.js';

const names = ['messages', 'messages_ready', 'messages_unacknowledged', 'recv_oct', 'send_oct'];

/** The columns of a virtual host with statistics: sums over its queues and its clients. */
export function vhostStatistics(measures: Measures): Columns<VirtualHost> {
  const columns: Record<string, (vhost: VirtualHost) => unknown> = {
    message_stats: (vhost) => happened(measures.of(vhost, vhostSeries), [publishedNames, deliveredNames]),
  };
  for (const name of names) {
    columns[name] = (vhost) => measures.of(vhost, vhostSeries).value(name);
    columns[`${name}_details`] = (vhost) => measures.of(vhost, vhostSeries).details(name);
  }
  return columns;
}
