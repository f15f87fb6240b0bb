import type { Channel } from '../../../engine/broker/index.js';
import { type Columns, rowOf } from '../columns.js';
import { happened, type Measures } from '../../statistics/measures.js';
import { channelSeries, deliveredNames, publishedNames } from '../../statistics/series.js';
import { consumerColumns } from './consumer-columns.js';
import { channelName, connectionName, peerOf, userName } from './names.js';
import { timeText } from './times.js';
import { garbageCollection } from './unknown.js';

/** The columns of a channel in a list. */
export const channelColumns = (nodeName: string, measures: Measures): Columns<Channel> => ({
  acks_uncommitted: ({ transaction }) => sizeOf(transaction?.settlements.map(({ records }) => records)),
  confirm: ({ confirms }) => confirms !== undefined,
  connection_details: ({ connection }) => ({ name: connectionName(connection), ...peerOf(connection) }),
  consumer_count: ({ receiver }) => receiver.consumers.size,
  garbage_collection: () => garbageCollection,
  global_prefetch_count: ({ receiver }) => receiver.prefetch.limit,
  idle_since: (channel) => {
    const since = measures.idleSince(channel, channelSeries);
    return since === undefined ? undefined : timeText(since);
  },
  message_stats: (channel) => happened(measures.of(channel, channelSeries), [publishedNames, deliveredNames]),
  messages_unacknowledged: ({ unackedCount }) => unackedCount,
  messages_uncommitted: ({ transaction }) => transaction?.publishes.length ?? 0,
  messages_unconfirmed: ({ confirms }) => confirms?.pending ?? 0,
  name: channelName,
  node: () => nodeName,
  number: ({ number }) => number,
  pending_raft_commands: () => 0,
  prefetch_count: ({ receiver }) => receiver.consumerPrefetch,
  reductions: () => 0,
  reductions_details: () => measures.unchanging('msg_rates'),
  state: ({ receiver }) => (receiver.isFlowing ? 'running' : 'flow'),
  transactional: ({ transaction }) => transaction !== undefined,
  user: ({ connection }) => userName(connection),
  user_who_performed_action: ({ connection }) => userName(connection),
  vhost: ({ vhost }) => vhost.name,
});

/** The columns of a single channel. */
export const singleChannelColumns = (nodeName: string, measures: Measures): Columns<Channel> => ({
  ...channelColumns(nodeName, measures),
  consumer_details: ({ receiver }) =>
    [...receiver.consumers.values()].map((consumer) => rowOf(consumer, consumerColumns(nodeName))),
  deliveries: () => [],
  publishes: () => [],
});

const sizeOf = (lists: readonly (readonly unknown[])[] = []): number =>
  lists.reduce((sum, { length }) => sum + length, 0);
