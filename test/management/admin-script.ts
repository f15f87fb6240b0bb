/** A call of rabbitmqadmin, and what it prints. `{v}` is a virtual host, `{u}` a user and `{f}` a file of the test's own. */
export interface Call {
  readonly args: string;
  /** Its whole output; undefined if the output is random or depends on the server. */
  readonly prints?: string;
  /** What it prints has to fit this, also where it is not the same from broker to broker. */
  readonly fits?: RegExp;
  /** What goes to standard error when it fails; then it exits with 1. */
  readonly fails?: RegExp;
  /** Not compared with RabbitMQ: it lists what others have there. */
  readonly oursOnly?: true;
}

const call = (args: string, prints?: string): Call => ({
  args,
  ...(prints !== undefined && { prints: prints === '' ? '' : `${prints}\n` }),
});
const fits = (args: string, pattern: RegExp): Call => ({ args, fits: pattern });
const mine = (args: string, pattern: RegExp): Call => ({ args, fits: pattern, oursOnly: true });
const fails = (args: string, pattern: RegExp): Call => ({ args, fails: pattern });

const table = (head: string, ...rows: readonly string[]): string => {
  const bar = head.replaceAll(/[^|]/g, '-').replaceAll('|', '+');
  return [bar, head, bar, ...rows, bar].join('\n');
};

const declare: readonly Call[] = [
  call('declare vhost name={v}', 'vhost declared'),
  call('declare user name={u} password=secret tags=monitoring', 'user declared'),
  call('declare permission vhost={v} user={u} configure=.* write=.* read=.*', 'permission declared'),
  call('-V {v} declare exchange name=work type=topic', 'exchange declared'),
  call('-V {v} declare exchange name=dead type=fanout durable=false auto_delete=false', 'exchange declared'),
  call('-V {v} declare queue name=one', 'queue declared'),
  call('-V {v} declare queue name=two durable=false arguments={"x-max-length":5}', 'queue declared'),
  call('-V {v} declare queue name=three queue_type=quorum', 'queue declared'),
  call('-V {v} declare binding source=work destination=one routing_key=a.*', 'binding declared'),
  call('-V {v} declare binding source=work destination=two', 'binding declared'),
  call('-V {v} declare binding source=work destination=two routing_key=k arguments={"n":1}', 'binding declared'),
  call(
    '-V {v} declare binding source=work destination=dead destination_type=exchange routing_key=#',
    'binding declared',
  ),
  call('-V {v} declare policy name=short pattern=^t definition={"max-length":10} apply-to=queues', 'policy declared'),
  call(
    '-V {v} declare operator_policy name=op pattern=^t definition={"max-length":9} priority=2',
    'operator_policy declared',
  ),
  call('declare vhost_limit vhost={v} name=max-queues value=50', 'vhost_limit declared'),
  call('-V {v} declare parameter component=vhost-limits name=limits value={"max-queues":60}', 'parameter declared'),
  call('-q -V {v} declare queue name=quiet', ''),
];

const messages: readonly Call[] = [
  call('-V {v} publish routing_key=one payload=hello', 'Message published'),
  call('-V {v} publish routing_key=nowhere payload=hello', 'Message published but NOT routed'),
  call(
    '-V {v} publish exchange=work routing_key=a.b payload=second properties={"delivery_mode":2}',
    'Message published',
  ),
  call('-V {v} publish routing_key=one payload=aGk= payload_encoding=base64', 'Message published'),
  call(
    '-V {v} get queue=one count=5',
    table(
      '| routing_key | exchange | message_count | payload | payload_bytes | payload_encoding | properties | redelivered |',
      '| one         |          | 2             | hello   | 5             | string           |            | False       |',
      '| a.b         | work     | 1             | second  | 6             | string           |            | False       |',
      '| one         |          | 0             | hi      | 2             | string           |            | False       |',
    ),
  ),
  call('-V {v} get queue=one count=3'),
  call('-V {v} -f tsv get queue=one ackmode=ack_requeue_false'),
  call('-V {v} get queue=one payload_file={f}.payload ackmode=reject_requeue_false'),
  call('-V {v} -f pretty_json get queue=one'),
  call('-V {v} purge queue name=one', 'queue purged'),
  call('-V {v} get queue=one', 'No items'),
];

const show: readonly Call[] = [
  call('-V {v} list exchanges'),
  call('-V {v} -f tsv list exchanges name type durable auto_delete internal'),
  call('-V {v} -f kvp list queues name durable type policy operator_policy'),
  call('-V {v} -f bash list queues', 'one quiet three two'),
  call('-V {v} -q -f bash list exchanges'),
  call('-V {v} list queues name arguments'),
  call('-V {v} -S name -R -f tsv list queues name type'),
  call('-V {v} -f long list bindings source destination destination_type routing_key properties_key'),
  call('-V {v} -f raw_json list bindings'),
  call('-V {v} -f pretty_json list bindings'),
  call('-V {v} list bindings'),
  call('-V {v} -d 3 -f kvp list queues name effective_policy_definition.max-length'),
  call('-V {v} list consumers', 'No items'),
  mine('list connections', /^No items\n$/),
  mine('list channels', /^No items\n$/),
  mine('list users', /\| \{u\}\s+\| rabbit_password_hashing_sha256/),
  mine('list vhosts', /\| \{v\}\s+\|/),
  mine('list permissions', /\| \{v\} +\| \.\* +\| \.\* +\| \{u\}/),
  mine('list nodes', /\| rabbit@localhost \| disc \| \d+/),
  mine('list parameters', /vhost-limits/),
  mine('list policies', /\| \{v\} +\| short/),
  mine('list operator_policies', /\| \{v\} +\| op/),
  mine('list vhost_limits', /max-queues/),
  mine('-f kvp list vhosts name messages', /^name="\/" messages="0"$/m),
  mine('show overview', /\| rabbitmq_version +\| +cluster_name +\| +queue_totals\.messages +\|/),
  fits('-f pretty_json show overview', /"management_version": "3.10.8"/),
  fits('-f long -d 2 list nodes name type running', /running: True/),
];

const refusals: readonly Call[] = [
  fails('-V {v} declare queue name=two durable=true', /inequivalent arg 'durable' for queue 'two' in vhost '\{v\}'/),
  fails(
    '-V {v} declare queue name=bad arguments={"x-max-length":-1}',
    /invalid arg 'x-max-length' .*value_negative,-1/,
  ),
  fails('-V {v} declare exchange name=bad type=magic', /unknown exchange type 'magic'/),
  fails('-V {v} declare exchange name=amq.mine type=direct', /Access refused: \/api\/exchanges\/\{v\}\/amq.mine/),
  fails('-V {v} declare policy name=bad pattern=( definition={"max-length":1}', /Validation failed/),
  fails('-V {v} declare queue name=bad durable=maybe', /not_boolean/),
  fails('-V {v} delete queue name=nowhere', /Not found: \/api\/queues\/\{v\}\/nowhere/),
  fails('-V {v} get queue=nowhere', /Not found: \/api\/queues\/\{v\}\/nowhere\/get/),
  fails('-V {v} publish exchange=nowhere routing_key=k payload=x', /404 NOT_FOUND - no exchange 'nowhere'/),
  fails('-u {u} -p wrong list queues', /Access refused: \/api\/queues/),
  fails('-u {u} -p secret list queues -V nowhere', /Not found|Access refused/),
  fails('-V {v} list nothing', /Don't know how to list nothing/),
  fails('close connection name=nobody', /Not found: \/api\/connections\/nobody/),
];

const definitions: readonly Call[] = [
  call('-V {v} export {f}', 'Exported definitions for 127.0.0.1 to "{f}"'),
  call('-V {v} delete queue name=quiet', 'queue deleted'),
  fits('-V {v} import {f}', /^Uploaded definitions from "127.0.0.1" to \{f\}\./),
  call('-V {v} -f bash list queues', 'one quiet three two'),
];

const remove: readonly Call[] = [
  call('-V {v} delete binding source=work destination_type=queue destination=two', 'binding deleted'),
  call(
    '-V {v} delete binding source=work destination_type=queue destination=one properties_key=a.%2A',
    'binding deleted',
  ),
  // As `list bindings` shows it: the key and a hash of the arguments.
  call(
    '-V {v} delete binding source=work destination_type=queue destination=two properties_key=k~{hash}',
    'binding deleted',
  ),
  call(
    '-V {v} delete binding source=work destination_type=exchange destination=dead properties_key=%23',
    'binding deleted',
  ),
  call('-V {v} -f tsv list bindings source destination'),
  call('-V {v} delete queue name=one', 'queue deleted'),
  call('-V {v} delete exchange name=work', 'exchange deleted'),
  call('-V {v} delete policy name=short', 'policy deleted'),
  call('-V {v} delete operator_policy name=op', 'operator_policy deleted'),
  call('delete vhost_limit vhost={v} name=max-queues', 'vhost_limit deleted'),
  call('delete permission vhost={v} user={u}', 'permission deleted'),
  call('delete user name={u}', 'user deleted'),
  call('delete vhost name={v}', 'vhost deleted'),
  fails('delete vhost name={v}', /Not found: \/api\/vhosts\/\{v\}/),
];

/** All verbs over all its types of objects. Each part builds on what was before. */
export const script: readonly (readonly [about: string, calls: readonly Call[]])[] = [
  ['declare', declare],
  ['publish, get, purge', messages],
  ['list, show', show],
  ['what is refused', refusals],
  ['export, import', definitions],
  ['delete', remove],
];
