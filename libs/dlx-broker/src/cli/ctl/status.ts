import { bracketed, shownText } from '../../host/index.js';
import { bold } from './format/bold.js';

type Facts = Readonly<Record<string, unknown>>;

const section = (title: string, lines: readonly string[]): string =>
  [bold(title), '', ...(lines.length > 0 ? lines : ['(none)']), ''].join('\n');

/** Gigabytes with up to four decimal places. */
const gigabytes = (bytes: unknown): string => {
  const rounded = Math.round(Number(bytes) / 100_000) / 10_000;
  return `${Number.isInteger(rounded) ? rounded.toFixed(1) : rounded} gb`;
};

const alarms = { mem_alarm: 'Memory alarm', disk_free_alarm: 'Free disk space alarm' } as const;

/** The faults of the storage. */
const faultsIn = (node: Facts): readonly Facts[] =>
  Array.isArray(node['dlx_faults']) ? (node['dlx_faults'] as Facts[]) : [];

/** The report of `status`. Values that the API does not have are left out. */
export function statusText(overview: Facts, node: Facts, vhosts: number): string {
  const name = String(overview['node']);
  const line = (label: string, value: unknown, show: (value: unknown) => string = String): string[] =>
    value === undefined || value === null ? [] : [`${label}: ${shownText(show(value))}`];
  const totals = (overview['object_totals'] ?? {}) as Facts;
  const listeners = Array.isArray(overview['listeners']) ? (overview['listeners'] as Facts[]) : [];
  return [
    section('Runtime', [
      ...line('OS PID', node['os_pid']),
      ...line('Uptime (seconds)', node['uptime'], (uptime) => String(Math.floor(Number(uptime) / 1000))),
      ...line('RabbitMQ version', overview['rabbitmq_version']),
      ...line('Node name', name),
      ...line('Product', overview['product_name']),
      ...line('Product version', overview['product_version']),
      ...line('Erlang configuration', overview['erlang_full_version']),
    ]),
    section('Alarms', [
      ...Object.entries(alarms).flatMap(([key, text]) =>
        node[key] === true ? [`${text} on node ${shownText(name)}`] : [],
      ),
      ...faultsIn(node).map(({ reason }) => shownText(`Storage of node ${name}: ${String(reason)}`)),
    ]),
    section('Memory', [
      ...line('Total memory used', node['mem_used'], gigabytes),
      ...line('Memory high watermark computed to', node['mem_limit'], gigabytes),
    ]),
    section('File Descriptors', [
      ...line('Total', node['fd_used'], (used) => `${used as number}, limit: ${node['fd_total'] as number}`),
      ...line(
        'Sockets',
        node['sockets_used'],
        (used) => `${used as number}, limit: ${node['sockets_total'] as number}`,
      ),
    ]),
    section('Free Disk Space', [
      ...line('Low free disk space watermark', node['disk_free_limit'], gigabytes),
      ...line('Free disk space', node['disk_free'], gigabytes),
    ]),
    section('Totals', [
      ...line('Connection count', totals['connections']),
      ...line('Queue count', totals['queues']),
      `Virtual host count: ${vhosts}`,
    ]),
    section(
      'Listeners',
      listeners.map(({ ip_address: address, port, protocol }) =>
        shownText(`Interface: ${bracketed(String(address))}, port: ${String(port)}, protocol: ${String(protocol)}`),
      ),
    ),
  ].join('\n');
}
