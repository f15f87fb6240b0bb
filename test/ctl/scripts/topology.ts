import { line, lines, type Script } from './script.js';

export const topologyScripts: readonly Script[] = [
  {
    name: 'policies',
    lines: lines(
      `set_policy -p V DLX '.*' '{"dead-letter-exchange":"my-dlx"}' --apply-to queues`,
      `set_policy -p V other ^q '{"max-length":10, "message-ttl": 1000}' --priority 7`,
      `set_policy -p V quiet ^q '{"max-length":1}' -q --priority -3`,
      `set_policy -p V json ^q '{"max-length":1}' --priority=4 --formatter json`,
      'list_policies -p V',
      'list_policies -p V -s',
      'list_policies -p V --no-table-headers',
      'list_policies -p V --formatter json',
      'list_policies -p V --formatter csv',
      'list_policies -p V --formatter pretty_table',
      `set_policy -p V bad '.*' '{"max-length":-1}'`,
      `set_policy -p V bad '.*' '{"max-length":"1"}'`,
      `set_policy -p V bad '.*' '{"foo":1}'`,
      `set_policy -p V bad '.*' '{"foo":"<b>&"}'`,
      `set_policy -p V bad '.*' '{foo'`,
      `set_policy -p V bad '*' '{"max-length":1}'`,
      `set_policy -p V bad '.*' '{"max-length":1}' --apply-to bogus`,
      `set_policy -p V bad '.*' '{"max-length":1}' --priority abc`,
      `set_policy -p V bad '.*' '{}'`,
      `set_policy -p Vgone bad '.*' '{"max-length":1}'`,
      `set_policy -p V bad '.*'`,
      `set_policy -p V bad '.*' '{"max-length":1}' extra`,
      `set_operator_policy -p V OP ^o '{"max-length":3}' --priority 2 --apply-to queues`,
      `set_operator_policy -p V OP ^o '{"dead-letter-exchange":"x"}'`,
      'list_operator_policies -p V',
      'clear_operator_policy -p V OP',
      'clear_operator_policy -p V OP',
      'clear_policy -p V other',
      'clear_policy -p V other',
      'clear_policy -p V',
      'clear_policy -p Vgone x',
      'list_policies -p Vgone',
      'list_policies -p V extra',
      'list_operator_policies -p V',
      'list_operator_policies -p V --formatter json',
      'list_operator_policies -p V --formatter csv',
      'list_operator_policies -p V --formatter pretty_table',
    ),
  },
  {
    name: 'queues, exchanges and bindings',
    scene: async (channel) => {
      await channel.assertQueue('orders', {
        arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', 'x-overflow': 'drop-head' },
      });
      await channel.assertQueue('dead', { durable: false, autoDelete: true });
      await channel.assertQueue('safe', { arguments: { 'x-queue-type': 'quorum' } });
      await channel.assertExchange('ex', 'topic', { alternateExchange: 'amq.fanout' });
      await channel.bindQueue('orders', 'ex', 'a.#', { k: 'v', f: 1.5, b: true, t: { x: 'y' }, s: 'a "b" \\' });
      await channel.bindExchange('amq.fanout', 'ex', 'k');
      for (const body of ['one', 'two']) channel.sendToQueue('orders', Buffer.from(body), { persistent: true });
    },
    lines: [
      line('list_queues -p V', { late: true }),
      line('list_queues -p V name messages messages_ready messages_unacknowledged consumers state', { late: true }),
      line('list_queues -p V name message_bytes message_bytes_ready messages_persistent exclusive', { late: true }),
      line('list_queues -p V --formatter json name,messages,type policy', { late: true }),
      line('list_queues -p V --formatter csv', { late: true }),
      line('list_queues -p V --formatter pretty_table name durable auto_delete', { late: true }),
      ...lines(
        'list_queues -p V -t 7 name type durable auto_delete arguments owner_pid exclusive_consumer_tag',
        'list_queues -qs --vhost=V name',
        '-p V list_queues -s -- name name',
        'list_queues -p V --online name',
        'list_queues -p V --offline name',
        'list_queues -p V --no-online name',
        'list_queues -p V --local name',
        'list_queues -p V --formatter json name arguments',
        'list_queues -p V name bogus other',
        'list_queues -p Vgone',
        'list_queues -p Vgone --formatter json',
        'list_queues -p Vgone --formatter csv',
        'list_queues -p V --bogus 3 -z',
        'list_queues -p',
        'list_queues -pq V',
        'list_queues -p V -t abc',
        'list_queues -p V --formatter json --no-table-headers',
        'list_queues -- -p',
        '--bogus list_queues',
        'list_exchanges -p V',
        'list_exchanges -p V name type durable auto_delete internal arguments policy',
        'list_exchanges -p V --formatter json name arguments',
        'list_exchanges -p Vgone',
        'list_exchanges bogus',
        'list_bindings -p V',
        'list_bindings -p V source_name routing_key',
        'list_bindings -p V --formatter json source_name destination_kind',
        'list_bindings -p Vgone',
        'list_bindings -p V vhost',
        'purge_queue -p V orders',
        'purge_queue -p V gone',
        'purge_queue -p Vgone orders',
        'purge_queue -p V',
        'purge_queue -p V safe',
      ),
      line('list_queues -p V messages', { late: true }),
      ...lines(
        'delete_queue -p V dead --if-empty',
        'delete_queue -p V dead',
        'delete_queue -p V orders --if-unused',
        'delete_queue -p Vgone orders -u -e',
        'delete_queue -p V',
        `delete_queue -p V ''`,
        'delete_queue -p V safe --formatter json',
      ),
      line('list_queues -p V', { late: true }),
    ],
  },
  {
    name: 'what stands in the way of deleting',
    scene: async (channel) => {
      await channel.assertQueue('full');
      channel.sendToQueue('full', Buffer.from('one'));
      await channel.assertQueue('used');
      await channel.consume('used', () => undefined);
    },
    lines: [
      line('list_queues -p V', { late: true }),
      ...lines('delete_queue -p V full --if-empty', 'delete_queue -p V used --if-unused', 'delete_queue -p V full'),
    ],
  },
];
