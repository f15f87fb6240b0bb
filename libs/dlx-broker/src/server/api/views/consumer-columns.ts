import type { ChannelContext, Consumer, Queue, VirtualHost } from '../../../engine/broker/index.js';
import type { Columns } from '../columns.js';
import { tableToJson } from '../field-json.js';
import { channelName, connectionName, peerOf, userName } from './names.js';

export const consumerColumns = (nodeName: string): Columns<Consumer> => ({
  arguments: ({ args }) => tableToJson(args),
  ack_required: ({ noAck }) => !noAck,
  active: (consumer) => isActive(consumer),
  activity_status: (consumer) => activityOf(consumer),
  channel_details: ({ receiver: { channel } }) => channelDetails(channel, nodeName),
  consumer_tag: ({ tag }) => tag,
  exclusive: ({ exclusive }) => exclusive,
  prefetch_count: ({ prefetch }) => prefetch.limit,
  queue: ({ queue }) => ({ name: queue.name, vhost: queue.home.name }),
});

const isActive = (consumer: Consumer): boolean =>
  !consumer.queue.consumers.singleActive || consumer.queue.consumers.active === consumer;

function activityOf(consumer: Consumer): string {
  if (!consumer.queue.consumers.singleActive) return 'up';
  return isActive(consumer) ? 'single_active' : 'waiting';
}

const channelDetails = (channel: ChannelContext, nodeName: string): object => ({
  connection_name: connectionName(channel.connection),
  name: channelName(channel),
  node: nodeName,
  number: channel.number,
  ...peerOf(channel.connection),
  user: userName(channel.connection),
});

export function consumersOf({ connections }: VirtualHost): readonly Consumer[] {
  const found: Consumer[] = [];
  for (const { channels } of connections) {
    for (const { receiver } of channels) found.push(...receiver.consumers.values());
  }
  return found;
}

/** The consumers of a queue. */
export function consumersOfQueue(vhost: VirtualHost, queue: Queue): readonly Consumer[] {
  return queue.consumers.count === 0 ? [] : consumersOf(vhost).filter((consumer) => consumer.queue === queue);
}
