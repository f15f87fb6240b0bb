import { line, lines, type Script } from './script.js';

export const othersScripts: readonly Script[] = [
  {
    name: 'clients',
    scene: async (channel) => {
      await channel.assertQueue('one');
      await channel.assertQueue('mine', { exclusive: true });
      await channel.prefetch(7);
      await channel.consume('one', () => undefined, { consumerTag: 'tag1', arguments: { a: 'b' } });
      await channel.consume('one', () => undefined, { consumerTag: 'tag2', noAck: true });
      await channel.consume('mine', () => undefined, { consumerTag: 'tagx', exclusive: true });
    },
    lines: [
      line('list_consumers -p V', { late: true }),
      line('list_consumers -p V queue_name consumer_tag active activity_status', { late: true }),
      line('list_consumers -p V --formatter csv', { late: true }),
      line('list_consumers -p Vgone'),
      line('list_consumers bogus'),
      line('list_connections user vhost state channels protocol auth_mechanism frame_max channel_max ssl', {
        late: true,
        keep: /^user\t|V/,
      }),
      line('list_connections pid vhost peer_host host timeout ssl_protocol', { late: true, keep: /^pid\t|V/ }),
      line('list_connections --formatter json vhost user protocol', { late: true, keep: /V/ }),
      line('list_connections bogus'),
      line('list_channels pid vhost user number confirm transactional consumer_count prefetch_count', {
        late: true,
        keep: /^pid\t|V/,
      }),
      line('list_channels vhost global_prefetch_count messages_unacknowledged messages_uncommitted', {
        late: true,
        keep: /^vhost\t|V/,
      }),
      line('list_channels bogus'),
      line('list_queues -p V name consumers exclusive exclusive_consumer_tag', { late: true }),
      line('close_all_connections'),
      line('close_all_connections -p Vgone because'),
      line('close_all_connections -p V because', { late: true, keep: /^Closed/ }),
      line('close_connection'),
    ],
  },
  {
    name: 'global parameters',
    lines: [
      ...lines(`set_global_parameter U '{"a":1}'`, `set_global_parameter U '{"a'`),
      line('list_global_parameters', { keep: /^Listing|^name|^U/ }),
      ...lines('clear_global_parameter U', 'clear_global_parameter U'),
    ],
  },
  {
    name: 'words that are no commands',
    lines: lines(
      'list_quues',
      'list_queus',
      'list_vhost -q',
      'add',
      'listqueues',
      'list',
      'delete',
      'set_polic',
      'Ping',
      'pang',
      'purge',
      'close',
      'clear_p',
      'set_perm',
      'help list_queus',
      'list_users -h',
      'version',
      'await_startup',
      'await_startup -t 5 --formatter json',
      'ping --formatter json',
    ),
  },
];
