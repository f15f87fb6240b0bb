import {
  checkMethods,
  flag,
  oneOf,
  optionsOf,
  parseDuration,
  refused,
  refuseUnknown,
  text,
  whole,
} from '../topology/index.js';
import type { ListenAt } from './connect.js';
import { checkExchange, checkStore } from './handler-settings.js';

/** Throws a DlxConfigurationError, or lets a value pass. */
type Check = (value: unknown, origin: string) => unknown;

type Names<T> = Readonly<Record<keyof T, true>>;

const listenNames = { amqp: true, http: true, audit: true, memoryLimit: true, users: true } satisfies Names<ListenAt>;

const amqpNames = {
  host: true,
  port: true,
  tls: true,
  limits: true,
  memory: true,
  alarms: true,
  notice: true,
  log: true,
} satisfies Names<NonNullable<ListenAt['amqp']>>;

const httpNames = {
  host: true,
  port: true,
  tls: true,
  limits: true,
  hosts: true,
  bodyLimit: true,
  replyLimit: true,
  resources: true,
} satisfies Names<NonNullable<ListenAt['http']>>;

const isText: Check = (value, origin) => {
  if (text.read(value, origin).value === '') throw refused(value, origin, 'is empty; write a text, or leave it out');
};

const isFunction: Check = (value, origin) => {
  if (typeof value !== 'function') throw refused(value, origin, 'is not a function');
};

const isDuration: Check = (value, origin) => parseDuration(value as string, origin);

const has =
  (what: string, ...methods: readonly string[]): Check =>
  (value, origin) => {
    checkMethods(value, origin, what, methods);
  };

const isExchange: Check = (value, origin) => {
  if (typeof value === 'string') {
    isText(value, origin);
    return;
  }
  const given = optionsOf(value, origin, "write a name, or { name: 'shop', type: 'topic' }");
  checkExchange({ name: 'as it is', ...given }, origin);
};

const isPolicy: Check = (value, origin) => optionsOf(value, origin, 'write { attempts: 5 }, or leave it out for none');

const arePolicies: Check = (value, origin) => {
  const policies = optionsOf(value, origin, "write { 'the queue': { attempts: 5 } }");
  for (const [queue, policy] of Object.entries(policies)) {
    if (policy !== undefined && policy !== false) isPolicy(policy, `${origin}, queue '${queue}'`);
  }
};

const areErrorHeaders: Check = (value, origin) => {
  if (typeof value === 'boolean') return;
  refuseUnknown(optionsOf(value, origin, 'write true, false or { stack: 0 }'), ['stack', 'message'], origin);
};

const port: Check = (value, origin) => whole(0, 65_535).read(value, origin);

const isListen: Check = (value, origin) => {
  const remedy = `write { amqp: { port: ${typeof value === 'number' ? value : 5672} } }`;
  const listen = optionsOf(value, origin, remedy);
  refuseUnknown(listen, Object.keys(listenNames), origin);
  for (const [part, names] of [['amqp', amqpNames] as const, ['http', httpNames] as const]) {
    const given = listen[part];
    if (given === undefined) continue;
    const where = `'${part}' of ${origin}`;
    const at = optionsOf(
      given,
      where,
      `write { port: ${typeof given === 'number' ? given : 0} }, or {} for the usual port`,
    );
    refuseUnknown(at, Object.keys(names), where);
    if (at['host'] !== undefined) isText(at['host'], `host of ${where}`);
    if (at['port'] !== undefined) port(at['port'], `port of ${where}`);
  }
  if (listen['audit'] !== undefined) isText(listen['audit'], `'audit' of ${origin}`);
  if (listen['users'] !== undefined) areUsers(listen['users'], `'users' of ${origin}`);
};

const areUsers: Check = (value, origin) => {
  const remedy = "write [{ name: 'shop', password: '...', permissions: { '/': { configure, write, read } } }]";
  if (!Array.isArray(value)) throw refused(typeof value, origin, `is not a list of users; ${remedy}`);
  for (const [index, given] of (value as readonly unknown[]).entries()) {
    if (typeof given === 'string') throw refused('string', `${origin}[${index}]`, `is no user; ${remedy}`); // never the value
    const user = optionsOf(given, `${origin}[${index}]`, remedy);
    refuseUnknown(user, ['name', 'password', 'tags', 'permissions'], `${origin}[${index}]`);
    isText(user['name'], `name of ${origin}[${index}]`);
    if (typeof user['password'] !== 'string') {
      throw refused(typeof user['password'], `password of ${origin}[${index}]`, 'is not a text'); // never the value
    }
  }
};

/** What each option of the module accepts; those that are missing here are read, and refused, where they are used. */
export const optionChecks: Readonly<Record<string, Check>> = {
  name: isText,
  isGlobal: (value, origin) => flag.read(value, origin),
  backend: has('Backend', 'connect', 'declare', 'publish', 'consume', 'close'),
  broker: has('Broker of dlx-broker/engine', 'connect', 'virtualHost'),
  vhost: isText,
  user: isText,
  dataDir: isText,
  listen: isListen,
  events: isExchange,
  requests: isExchange,
  prefetch: (value, origin) => whole(0, 65_535).read(value, origin),
  drainTimeout: isDuration,
  errorHeaders: areErrorHeaders,
  retry: isPolicy,
  queueRetry: arePolicies,
  random: isFunction,
  idempotencyStore: checkStore,
  waitQueueType: (value, origin) => oneOf('classic', 'quorum').read(value, origin),
  declare: (value, origin) => flag.read(value, origin),
  logHandlers: (value, origin) => flag.read(value, origin),
  logFailures: (value, origin) => oneOf('all', 'last', 'none').read(value, origin),
};
