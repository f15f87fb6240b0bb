import { bracketed } from '../../platform/index.js';
import type { Api } from './api.js';
import { type Facts, get, type Given } from './request.js';

const listOf = (value: unknown): readonly Facts[] => (Array.isArray(value) ? (value as Facts[]) : []);
const megabytes = (bytes: unknown): string => `${Math.round(Number(bytes) / 1e6)} MB`;

/** What the API knows of the broker: a text for people, or with `--json` all of it. */
export async function status(given: Given, api: Api): Promise<string | Facts> {
  const overview = await get(api, 'overview', given);
  // A user who may not see the node still gets the rest.
  const { status: code, body } = await api.send('GET', ['nodes', String(overview['node'])]);
  const node = (code === 200 ? body : {}) as Facts;
  if (given['json'] === true) return { ...node, ...overview };
  const totals = (overview['object_totals'] ?? {}) as Facts;
  const lines: readonly (readonly [label: string, value: unknown])[] = [
    ['RabbitMQ version', overview['rabbitmq_version']],
    ['Product', overview['product_name'] && ['product_name', 'product_version'].map((key) => overview[key]).join(' ')],
    ['Node', overview['node']],
    ['Process', node['os_pid']],
    ['Uptime', node['uptime'] && `${Math.floor(Number(node['uptime']) / 1000)} s`],
    ['Memory', node['mem_used'] && `${megabytes(node['mem_used'])}, limit ${megabytes(node['mem_limit'])}`],
    ['Free disk', node['disk_free'] && `${megabytes(node['disk_free'])}, limit ${megabytes(node['disk_free_limit'])}`],
    ['Alarm', node['mem_alarm'] === true ? 'too much memory is used; publishers wait' : undefined],
    ['Alarm', node['disk_free_alarm'] === true ? 'too little disk space is free; publishers wait' : undefined],
    ...listOf(node['dlx_faults']).map(({ reason }) => ['Alarm', `storage: ${String(reason)}`] as const),
    ...['connections', 'channels', 'queues', 'consumers'].map((name) => [`Total ${name}`, totals[name]] as const),
    ...listOf(overview['listeners']).map(
      ({ protocol, ip_address: address, port }) =>
        ['Listener', `${String(protocol)} ${bracketed(String(address))}:${String(port)}`] as const,
    ),
  ];
  return lines.flatMap(([label, value]) => (value === undefined ? [] : [`${label}: ${String(value)}`])).join('\n');
}
