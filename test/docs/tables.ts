import { format, resolveConfig } from 'prettier';
import { overflowPolicies, queueArguments } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { featureMetrics } from '../../libs/dlx-broker/src/nest/features/index.js';
import { metricTable } from '../../libs/dlx-broker/src/server/metrics/index.js';
import { optionOf, type ServeOption, serveOptions } from '../../libs/dlx-broker/src/cli/serve/options.js';
import { resources } from '../../libs/dlx-broker/src/server/api/resources.js';
import { methodNames } from '../../libs/dlx-broker/src/server/http/resource.js';
import { decoratorTable } from '../../libs/dlx-broker/src/nest/index.js';
import { logEvents } from '../../libs/dlx-broker/src/nest/log/log-events.js';
import { promises } from '../amqp/promises.js';
import { differences } from '../e2e/differences.js';
import { optionRows } from './option-rows.js';
import { read, root } from './pages.js';

type Argument = (typeof queueArguments)[number];

const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``);
const typesOf = ({ on }: Argument): string => Object.keys(on).join(', ') || 'streams only';
const hasEffect = ({ says }: Argument): boolean => says !== undefined;

const mergeNames = {
  argument: 'argument',
  policy: 'policy',
  minimum: 'the smaller',
  maximum: 'the greater',
  limit: 'the smaller',
} as const;

/** The brokers that give an error. */
const placesWith = (errors: Readonly<Record<string, string>>, text: string): string =>
  Object.keys(errors)
    .filter((where) => errors[where] === text)
    .join(', ');

/** Which value applies if argument and policy are both set. */
function bothOf({ policy, merge }: Argument): string {
  if (policy === undefined || merge === undefined) return '';
  if (typeof merge === 'string') return mergeNames[merge];
  return Object.entries(merge)
    .map(([type, one]) => `${type}: ${mergeNames[one]}`)
    .join('; ');
}

/** The metrics of these names, each with its labels. */
function metricRows(isWanted: (name: string) => boolean): readonly (readonly string[])[] {
  const rows = [...metricTable, ...featureMetrics]
    .filter(({ name }) => isWanted(name))
    .map(({ name, type, labels, help }) => {
      const of = labels.length === 0 ? '' : `{${labels.join(', ')}}`;
      return [`${code(`${name}${of}`)}, ${type}: ${help}`];
    });
  return [['metric'], ...rows];
}

/** The tables of the docs that come from tables of the source, heads first. A table of one column becomes a list. */
export const tables: Readonly<Record<string, readonly (readonly string[])[]>> = {
  arguments: [
    ['argument', 'policy key', 'queue types', 'value', 'both', 'operator policy'],
    ...queueArguments
      .filter(hasEffect)
      .map((row) => [
        code(row.name),
        code(row.policy?.name),
        typesOf(row),
        row.says ?? '',
        bothOf(row),
        row.operator === true ? 'yes' : '',
      ]),
  ],
  'arguments without effect': [
    ['argument', 'policy key', 'queue types'],
    ...queueArguments
      .filter((row) => !hasEffect(row))
      .map((row) => [code(row.name), code(row.policy?.name), typesOf(row)]),
  ],
  'overflow policies': [
    ['`overflow`', 'when the queue is full'],
    ...Object.entries(overflowPolicies).map(([name, { says }]) => [code(name), says]),
  ],
  differences: [
    ['feature', 'embedded', '`dlx-broker serve`', 'RabbitMQ'],
    ...Object.values(differences).map(({ feature, embedded, serve, RabbitMQ }) => [feature, embedded, serve, RabbitMQ]),
  ],
  'errors of differences': [
    ['feature', 'on', 'error'],
    ...Object.values(differences).flatMap(({ feature, errors = {}, instead }) => [
      ...[...new Set(Object.values(errors))].map((text) => [feature, placesWith(errors, text), code(text)]),
      ...(instead === undefined ? [] : [[feature, '', `none; ${instead}`]]),
    ]),
  ],
  'metrics of RabbitMQ': metricRows((name) => name.startsWith('rabbitmq_')),
  'metrics of our own': metricRows((name) => name.startsWith('dlx_')),
  'lines of the log': [
    ['line'],
    ...Object.entries(logEvents).map(([event, { level, says, fields }]) => [
      `${code(event)}, ${level}: ${says}${fields.length === 0 ? '' : ` (${fields.map(code).join(', ')})`}`,
    ]),
  ],
  'options of serve': [
    ['option'],
    ...Object.entries<ServeOption>(serveOptions).map(([name, { flag, says, needs, key }]) => {
      const inFile = key === undefined ? '' : `, ${code(name)}`;
      const beside = needs === undefined ? '' : ` (with ${code(optionOf(serveOptions[needs]))})`;
      return [`${code(flag.replace(/[<>]/g, ''))}${inFile}${beside}: ${says}`];
    }),
  ],
  'options of forRoot': [
    ['option'],
    ...optionRows(
      'nest/module/options.ts: DlxBrokerOptions, DlxBrokerModuleExtras',
      'nest/module/transport-options.ts: TransportOptions',
      'nest/features/options.ts: FeatureOptions',
    ),
  ],
  'options of embedded': [
    ['option'],
    ...optionRows('nest/brokers/embedded.ts: AccessOptions, EngineOptions, InMemory, OnDisk'),
  ],
  'options of listen': [['option'], ...optionRows('nest/brokers/listen.ts: PortOptions, WithHttp')],
  'options of rabbitmq': [['option'], ...optionRows('backends/rabbitmq/options.ts: RabbitMqOptions')],
  'paths of the API': [
    ['path'],
    ...resources
      .map((resource) => [resource.path.replaceAll(/:(\w+)/g, '{$1}'), resource] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([path, resource]) => [`\`${methodNames.filter((name) => resource[name]).join(', ')} ${path}\``]),
  ],
  'settings of decorators': [
    ['decorator', 'setting', 'becomes', 'accepts'],
    ...decoratorTable.map(({ decorator, setting, of, becomes, accepts }) => [
      code(`@${decorator}`),
      code(setting),
      `${of === 'consumer' ? 'consumer: ' : ''}${code(becomes)}`,
      accepts.says,
    ]),
  ],
  ...Object.fromEntries(
    Object.entries(promises).map(([section, all]) => [section, [['promise'], ...all.map(([promise]) => [promise])]]),
  ),
};

/** The name of each table on a page. A table stands between two comments. */
export const tablesOn = (page: string): string[] =>
  [...read(page).matchAll(/^<!-- table: (.*) -->$/gm)].map(([, name]) => name!);

/** A page as it is with the tables of today. */
export async function withTables(page: string): Promise<string> {
  const text = read(page).replace(
    /^(<!-- table: (.*) -->\n)[^]*?(\n<!-- \/table -->)$/gm,
    (_, begin: string, name: string, end: string) => {
      const [head, ...rows] = tables[name] ?? [];
      const lines =
        head?.length === 1
          ? rows.map(([cell]) => `- ${cell}`)
          : [head!, head!.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
      return `${begin}\n${lines.join('\n')}\n${end}`;
    },
  );
  const path = `${root}/${page}`;
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}
