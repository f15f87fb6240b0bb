import { partsOf } from '../api/names.js';

/** What the server of an application is. */
export type ServerKind = 'RabbitMQ' | 'dlx-broker';

interface Relayed {
  /** A path of the management API, with placeholders for names. `*`: any number of parts. */
  readonly path: string;
  readonly methods: readonly string[];
  /** Default: any server. */
  readonly of?: ServerKind;
}

/** The requests that are passed on to the server: what the pages of the console need, and no more. */
const relayed: readonly Relayed[] = [
  { path: '/whoami', methods: ['GET'] },
  { path: '/overview', methods: ['GET'] },
  { path: '/vhosts', methods: ['GET'] },
  { path: '/queues', methods: ['GET'] },
  { path: '/queues/:vhost', methods: ['GET'] },
  { path: '/queues/:vhost/:name', methods: ['GET', 'DELETE'] },
  { path: '/queues/:vhost/:name/contents', methods: ['DELETE'] },
  { path: '/queues/:vhost/:name/bindings', methods: ['GET'] },
  { path: '/exchanges/:vhost/:name/publish', methods: ['POST'] },
  { path: '/policies', methods: ['GET'] },
  { path: '/policies/:vhost', methods: ['GET'] },
  { path: '/operator-policies', methods: ['GET'] },
  { path: '/operator-policies/:vhost', methods: ['GET'] },
  { path: '/users', methods: ['GET'] },
  { path: '/permissions', methods: ['GET'] },
  { path: '/connections', methods: ['GET'] },
  { path: '/connections/:name', methods: ['DELETE'] },
  { path: '/dlx/*', methods: ['GET', 'PUT', 'POST', 'DELETE'], of: 'dlx-broker' },
];

const templates = relayed.map((each) => ({ ...each, parts: partsOf(each.path) }));

/** How a request is relayed. */
export interface Relay {
  /** The path with placeholders, for the audit log. */
  readonly path: string;
  /** The methods of the path. */
  readonly methods: readonly string[];
}

/** @param parts the parts of the path behind `/api`, decoded @returns undefined for a path that is not relayed */
export function relayOf(parts: readonly string[], kind: ServerKind): Relay | undefined {
  // A server may read such a part as a step up, and answer for another path.
  if (kind === 'RabbitMQ' && parts.some((part) => part === '.' || part === '..')) return undefined;
  return templates.find((template) => (template.of ?? kind) === kind && isMatch(template.parts, parts));
}

function isMatch(template: readonly string[], parts: readonly string[]): boolean {
  if (template.at(-1) === '*')
    return parts.length >= template.length && isMatch(template.slice(0, -1), parts.slice(0, template.length - 1));
  return (
    template.length === parts.length &&
    template.every((part, at) => (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
  );
}
