import type { Command } from './command.js';
import { connectionCommands } from './commands/connections.js';
import { definitionCommands } from './commands/definitions.js';
import { limitCommands } from './commands/limits.js';
import { listCommands } from './commands/listings.js';
import { nodeCommands } from './commands/node.js';
import { parameterCommands } from './commands/parameters.js';
import { permissionCommands } from './commands/permissions.js';
import { policyCommands } from './commands/policies.js';
import { queueCommands } from './commands/queues.js';
import { userLimitCommands } from './commands/user-limits.js';
import { userCommands } from './commands/users.js';
import { vhostCommands } from './commands/vhosts.js';

/** All commands. A new command is a row in one of these lists. */
export const commands: readonly Command[] = [
  ...connectionCommands,
  ...definitionCommands,
  ...limitCommands,
  ...listCommands,
  ...nodeCommands,
  ...parameterCommands,
  ...permissionCommands,
  ...policyCommands,
  ...queueCommands,
  ...userCommands,
  ...userLimitCommands,
  ...vhostCommands,
].toSorted((one, other) => (one.name < other.name ? -1 : 1));

/** In the order of the list of commands. */
export const groups: readonly string[] = [
  'Help',
  'Nodes',
  'Users',
  'Access Control',
  'Monitoring, observability and health checks',
  'Parameters',
  'Policies',
  'Virtual hosts',
  'Definitions',
  'Operations',
  'Queues',
];

/** Commands of rabbitmqctl for an Erlang node and its cluster, which do not exist here or have no HTTP API. */
export const elsewhere: readonly string[] = [
  'await_online_nodes',
  'cancel_sync_queue',
  'change_cluster_node_type',
  'cluster_status',
  'decode',
  'enable_feature_flag',
  'encode',
  'environment',
  'eval',
  'eval_file',
  'exec',
  'force_boot',
  'force_gc',
  'force_reset',
  'forget_cluster_node',
  'hipe_compile',
  'join_cluster',
  'list_ciphers',
  'list_feature_flags',
  'list_hashes',
  'list_node_auth_attempt_stats',
  'list_unresponsive_queues',
  'node_health_check',
  'rename_cluster_node',
  'report',
  'reset',
  'restart_vhost',
  'resume_listeners',
  'rotate_logs',
  'schema_info',
  'set_disk_free_limit',
  'set_log_level',
  'set_vm_memory_high_watermark',
  'shutdown',
  'start_app',
  'stop',
  'stop_app',
  'suspend_listeners',
  'sync_queue',
  'trace_off',
  'trace_on',
  'update_cluster_nodes',
  'wait',
];
