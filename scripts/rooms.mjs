/**
 * The rooms of the library: one row each. The lint rules in `.oxlintrc.json`, the table in `docs/walk.md` and
 * `test/walls.spec.ts` come from here. After a change: `npm run rooms`.
 *
 * `imports`: the rooms that it may import besides `message`, which every room below `core` may. `core`: the synchronous
 * rooms, which use no library, nothing of Node, and neither time nor chance.
 * @type {readonly import('./rooms.d.mts').Room[]}
 */
export const rooms = [
  {
    name: 'message',
    job: 'what travels: messages, field tables, the death records in `x-death`',
    imports: [],
    core: true,
    bottom: true,
  },
  {
    name: 'wire',
    job: 'AMQP 0-9-1 in bytes, for servers and clients: frames, methods, field tables, properties',
    imports: [],
  },
  {
    name: 'broker',
    job: 'the core: virtual hosts, exchanges, queues, channels, policies',
    imports: [],
    core: true,
  },
  {
    name: 'history',
    job: 'what a message tells its application: attempts, errors, where it was published, its payload',
    imports: [],
  },
  {
    name: 'options',
    job: 'checks of what users write: known names, types, durations, and the errors',
    imports: [],
  },
  {
    name: 'topology',
    job: 'declarations as plain data, from code or options',
    imports: ['options', 'broker'],
  },
  {
    name: 'host',
    job: 'what this machine gives the core: time, names, turns, patterns, async contexts; text for terminals and logs',
    imports: ['broker'],
  },
  { name: 'store', job: "keeps a broker's state on disk", imports: ['broker'] },
  {
    name: 'logins',
    job: 'who may log in: passwords, how often, and connections without a login',
    imports: ['broker', 'host'],
  },
  {
    name: 'alarms',
    job: 'what may run short: how much memory there is, and when publishers wait',
    imports: [],
    bottom: true,
  },
  {
    name: 'amqp',
    job: 'the AMQP 0-9-1 listener: bytes to commands, output to bytes',
    imports: ['wire', 'alarms', 'broker', 'history', 'host', 'logins'],
  },
  { name: 'redrive', job: 'how a redrive goes: its state, rate, breaker and counts', imports: [] },
  {
    name: 'management',
    job: 'the HTTP API',
    imports: ['alarms', 'broker', 'history', 'options', 'host', 'redrive', 'logins'],
  },
  {
    name: 'metrics',
    job: "the broker's numbers for Prometheus: RabbitMQ's metrics and ours, and their pages",
    imports: ['broker', 'options', 'host', 'logins', 'management'],
  },
  {
    name: 'backend',
    job: 'one port, two brokers behind it: embedded, or a real RabbitMQ',
    imports: ['wire', 'broker', 'options', 'topology', 'host'],
  },
  {
    name: 'tracing',
    job: 'what a tracing library is asked for, and never fails a message for',
    imports: ['backend'],
  },
  {
    name: 'otel',
    job: 'spans of OpenTelemetry; no other room knows of it',
    imports: ['history', 'options', 'backend', 'tracing'],
  },
  {
    name: 'retry',
    job: 'when a failed message is tried again: policies, wait queues, parking, republishing',
    imports: ['history', 'options', 'topology', 'backend', 'host'],
  },
  {
    name: 'streams',
    job: 'RxJS operators over a backend',
    imports: ['history', 'options', 'topology', 'host', 'backend', 'tracing', 'retry', 'redrive'],
  },
  {
    name: 'nest',
    job: 'module, server, client, context and decorators',
    imports: ['history', 'broker', 'options', 'topology', 'host', 'metrics', 'backend', 'tracing', 'retry', 'streams'],
  },
  {
    name: 'cli',
    job: 'the command: serves a broker, looks at its data, asks one over HTTP',
    imports: ['history', 'broker', 'options', 'topology', 'host', 'logins', 'store', 'amqp', 'management', 'backend'],
  },
];

/** The room of test helpers. It may import any file. */
export const testing = { name: 'testing', job: 'a clock that tests move, a broker to arrange' };

/** The files beside the rooms: entries of the package, and what joins the rooms. No room imports them. */
export const fronts = [
  'index',
  'serve',
  'server',
  'streams',
  'otel',
  'metrics',
  'register-metrics',
  'engine',
  'open-broker',
  'listeners',
  'storage-faults',
];

/** A folder inside a room that joins other rooms, as the files beside the rooms do. */
export const joints = ['nest/brokers'];

/** Files that a room may import from beside the rooms, and files of its own that are called as one of those. */
const exceptions = { cli: { imports: ['serve', 'open-broker'] }, nest: { owns: ['server'] } };

const source = 'libs/dlx-broker/src';
const names = [...rooms.map(({ name }) => name), testing.name];
const specs = ['**/*.spec.ts'];

/** @returns every room that a room may import */
export const allowedTo = ({ imports, bottom }) => (bottom === true ? imports : ['message', ...imports]);

const byIndex = {
  group: [`**/{${names.join(',')}}/**`, `!**/{${names.join(',')}}/index.js`],
  message: 'Enter another room by its index.js; inside a room import the file.',
};

function noFront(name) {
  const { imports = [], owns = [] } = exceptions[name] ?? {};
  const message = 'A room imports neither the files beside the rooms nor its own index: inside a room import the file.';
  const outside = fronts.filter((front) => !imports.includes(front));
  const inside = outside.filter((front) => !owns.includes(front));
  // A folder's own index.js may be meant by ./index.js in cli/ctl, which has one.
  const here = name === 'cli' ? '' : `|^\\./(${inside.join('|')})\\.js$`;
  return { regex: `^(\\.\\./)+(${outside.join('|')})\\.js$${here}`, message };
}

function wall(room) {
  const allowed = allowedTo(room);
  const closed = names.filter((name) => name !== room.name && !allowed.includes(name));
  const message = `${room.name} imports ${allowed.length === 0 ? 'no other room' : `${allowed.join(', ')} and no other room`}.`;
  const patterns = [{ regex: `^(\\.\\./)+(${closed.join('|')})/`, message }, byIndex, noFront(room.name)];
  if (room.core === true) {
    patterns.push({ regex: '^[^.]', message: 'The core uses no library and nothing of Node.' });
  }
  return {
    files: [`${source}/${room.name}/**/*.ts`],
    excludeFiles: [
      ...specs,
      ...joints.filter((path) => path.startsWith(`${room.name}/`)).map((path) => `${source}/${path}/*.ts`),
    ],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  };
}

/** The lint rules that hold the walls, in the order of the rooms. */
export const lintOverrides = () => [
  {
    files: [`${source}/*.ts`, ...joints.map((path) => `${source}/${path}/*.ts`)],
    excludeFiles: specs,
    rules: { 'no-restricted-imports': ['error', { patterns: [byIndex] }] },
  },
  ...rooms.map(wall),
];

/** The rows of the table in the walk. */
export const walkRows = () => [
  ...rooms.map(({ name, job, imports }) => [
    `\`${name}/\``,
    job,
    imports.length === 0 ? 'nothing' : imports.map((other) => `\`${other}\``).join(', '),
  ]),
  [`\`${testing.name}/\``, testing.job, 'anything'],
];
