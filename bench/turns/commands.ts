import type { Command } from '../../libs/dlx-broker/src/cli/ctl/command.js';

/** The arguments of commands that need some, and the preparation of the broker. */
const lines: Readonly<Record<string, readonly [line: readonly string[], before?: string]>> = {
  add_user: [['somebody', 'secret']],
  delete_user: [['crowd'], 'crowd'],
  change_password: [['user.000001', 'secret']],
  clear_password: [['user.000001']],
  authenticate_user: [['guest', 'guest']],
  set_user_tags: [['user.000001', 'management']],
  add_vhost: [['another']],
  delete_vhost: [['doomed'], 'doomed'],
  set_vhost_tags: [['another', 'tag']],
  close_connection: [['nobody', 'reason']],
  close_all_connections: [['--vhost', '/', '--limit', '0', 'reason'], 'crowd'],
  close_all_user_connections: [['crowd', 'reason'], 'crowd'],
  set_parameter: [['vhost-limits', 'limits', '{"max-queues":100000}']],
  clear_parameter: [['vhost-limits', 'limits']],
  set_global_parameter: [['two', '2']],
  clear_global_parameter: [['two']],
  set_cluster_name: [['one']],
  set_vhost_limits: [['{"max-queues":100000}']],
  set_user_limits: [['user.000001', '{"max-connections":100000}']],
  clear_user_limits: [['user.000001', 'max-connections']],
  export_definitions: [['-']],
  import_definitions: [['{definitions}']],
  delete_queue: [['heavy'], 'heavy'],
  purge_queue: [['big'], 'refill'],
  set_permissions: [['user.000001', '.*', '.*', '.*']],
  clear_permissions: [['user.000001']],
  set_topic_permissions: [['user.000001', 'topics', '.*', '.*']],
  clear_topic_permissions: [['user.000001']],
  list_user_permissions: [['user.000001']],
  list_user_topic_permissions: [['user.000001']],
  set_policy: [['all', '.*', '{"max-length":5000000}']],
  clear_policy: [['all']],
  set_operator_policy: [['all', '.*', '{"max-length":5000000}']],
  clear_operator_policy: [['all']],
};

export interface Line {
  readonly words: readonly string[];
  readonly before: string | undefined;
}

/** A command line for each command. @param definitions a file of definitions */
export function linesOf(commands: readonly Command[], definitions: string): readonly Line[] {
  return commands.map(({ name }) => {
    const [line, before] = lines[name] ?? [[]];
    return { words: [name, ...line.map((word) => (word === '{definitions}' ? definitions : word))], before };
  });
}
