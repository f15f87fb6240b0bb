import { type Ground, request, type Scene } from './scene.js';
import { type Shape, shapeOf } from './shape.js';

const queues = ['plain', 'full', 'quorum', 'single', 'dead', 'idle', 'mine'];
const exchanges = ['work', 'dead', 'side', 'amq.default', 'amq.direct'];
const ranges = ['lengths', 'msg_rates', 'data_rates'].map((name) => `${name}_age=60&${name}_incr=5`).join('&');

/** Whose shapes are on record: a file for each, and in it the paths. `V` is the scene's virtual host. */
const endpoints: Readonly<Record<string, readonly string[]>> = {
  overview: ['/overview', '/overview?disable_stats=true'],
  nodes: [
    '/nodes',
    '/nodes/{node}',
    '/nodes/{node}?memory=true&columns=memory',
    '/nodes/{node}/memory',
    '/nodes/{node}/memory/relative',
  ],
  vhosts: ['/vhosts/V'],
  exchanges: ['/exchanges/V', '/exchanges/V?disable_stats=true', ...exchanges.map((name) => `/exchanges/V/${name}`)],
  queues: ['/queues/V', '/queues/V?page=1&page_size=100', ...queues.map((name) => `/queues/V/${name}`)],
  'queues-otherwise': [
    '/queues/V?disable_stats=true',
    '/queues/V?columns=name,messages_details.rate',
    `/queues/V/full?${ranges}`,
  ],
  bindings: [
    '/bindings/V',
    '/queues/V/full/bindings',
    '/bindings/V/e/work/q/full',
    '/exchanges/V/dead/bindings/destination',
  ],
  connections: [
    '/vhosts/V/connections',
    '/connections/{consumer}',
    `/connections/{publisher}?${ranges}`,
    '/connections/username/guest',
    '/vhosts/V/connections?disable_stats=true',
  ],
  channels: [
    '/vhosts/V/channels',
    '/connections/{consumer}/channels',
    ...['consumer', 'publisher'].flatMap((name) => [1, 2].map((number) => `/channels/{${name}} (${number})`)),
  ],
  consumers: ['/consumers/V'],
  health: [
    '/aliveness-test/V',
    '/health/checks/alarms',
    '/health/checks/port-listener/1',
    '/health/checks/protocol-listener/mqtt',
  ],
};

export const files = Object.keys(endpoints);

/** The shape of every answer of one file. */
export async function shapesOf(ground: Ground, scene: Scene, file: string): Promise<Record<string, Shape>> {
  const shapes: Record<string, Shape> = {};
  for (const path of endpoints[file] ?? []) {
    const names = new Map(Object.entries(scene.names));
    const named = path.replace(/\{(\w+)\}([^?]*)/, (_, who: string, rest: string) =>
      rest.startsWith('/')
        ? `${encodeURIComponent(names.get(who) ?? '')}${rest}`
        : encodeURIComponent(`${names.get(who)}${rest}`),
    );
    const { status, text } = await request(ground, 'GET', `/api${named.replace('/V', `/${scene.vhost}`)}`);
    shapes[path] = {
      status: String(status),
      body: shapeOf(JSON.parse(text.replaceAll(/rabbit@[\w-]+/g, 'rabbit@node'))),
    };
  }
  return shapes;
}
