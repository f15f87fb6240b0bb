// Generates the method ids, and functions that read and write each method, from the table in amqp-methods.mjs. With --check it
// only compares the files with what it would write.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { table } from './amqp-methods.mjs';

const source = (path) => fileURLToPath(new URL(`../libs/dlx-broker/src/${path}`, import.meta.url));

const types = {
  octet: 'number',
  short: 'number',
  long: 'number',
  longlong: 'number | bigint',
  shortstr: 'string',
  longstr: 'string',
  longbytes: 'Uint8Array',
  table: 'FieldTable',
  bit: 'boolean',
};
const reservedValues = { octet: '0', short: '0', long: '0', shortstr: "''", longstr: "''", bit: 'false' };

const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const pascal = (name) => camel(`-${name}`);

function parse(text) {
  const methods = [];
  let className = '';
  let classId = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [name, id, marks, ...args] = line.trim().split(' ');
    if (!line.startsWith(' ')) {
      className = name;
      classId = Number(id);
      continue;
    }
    methods.push({
      name: `${className}-${name}`,
      wireName: `${className}.${name}`,
      id: classId * 65_536 + Number(id),
      direction: marks.replace(/[rw]$/, ''),
      isRead: !marks.endsWith('w'),
      isWritten: !marks.endsWith('r'),
      args: args.map((arg) => {
        const [argument, type] = arg.replace(/^-/, '').split(':');
        return { name: argument, type, reserved: arg.startsWith('-') };
      }),
    });
  }
  return methods;
}

/** Groups the arguments: bits in a row share an octet, any other argument is alone. */
function runs(args) {
  const result = [];
  for (const arg of args) {
    const last = result.at(-1);
    if (arg.type === 'bit' && last?.[0].type === 'bit' && last.length < 8) last.push(arg);
    else result.push([arg]);
  }
  return result;
}

// RabbitMQ checks that names are UTF-8, except in methods that content follows.
const takesAnyBytes = new Set(['basic.publish']);

function reader({ name, wireName, args }) {
  const known = args.filter((arg) => !arg.reserved);
  if (args.length === 0) return `/** \`${wireName}\` */\nexport const read${pascal(name)} = readNoArguments;`;
  const lines = runs(args).map((run, index) => {
    if (run[0].type === 'bit') {
      const bits = `bits${index}`;
      if (run.every((arg) => arg.reserved)) return 'from.octet();';
      const values = run.map((arg, bit) => `const ${camel(arg.name)} = (${bits} & ${1 << bit}) !== 0;`);
      return [`const ${bits} = from.octet();`, ...values].join('\n');
    }
    const [{ name: argument, type, reserved }] = run;
    const shortstr = takesAnyBytes.has(wireName) ? 'from.shortstr()' : 'from.name()';
    const read = { table: 'readTable(from)', shortstr }[type] ?? `from.${type}()`;
    return reserved ? `${read};` : `const ${variable(argument)} = ${read};`;
  });
  const fields = known.map((arg) => `readonly ${arg.name}: ${types[arg.type]};`).join('\n');
  const result = known.map((arg) =>
    variable(arg.name) === arg.name ? arg.name : `${arg.name}: ${variable(arg.name)}`,
  );
  if (known.length === 0)
    return `/** \`${wireName}\`: its arguments are reserved. */\nexport function read${pascal(name)}(from: MethodReader): void {\n${lines.join('\n')}\nfrom.finish();\n}`;
  return `export interface ${pascal(name)} {\n${fields}\n}\n\n/** \`${wireName}\` */\nexport function read${pascal(name)}(from: MethodReader): ${pascal(name)} {\n${lines.join('\n')}\nfrom.finish();\nreturn { ${result.join(', ')} };\n}`;
}

const variable = (name) => (name === 'arguments' ? 'args' : name);

function writer({ name, wireName, args }) {
  const head = `/** \`${wireName}\` */\nexport`;
  if (args.length === 0) return `${head} const write${pascal(name)} = emptyWriter(methodIds.${camel(name)});`;
  const known = args.filter((arg) => !arg.reserved);
  const parameters = known.map((arg) => `, ${variable(arg.name)}: ${types[arg.type]}`).join('');
  const value = (arg) => (arg.reserved ? reservedValues[arg.type] : arg.name);
  const lines = runs(args).map((run) => {
    if (run[0].type === 'bit') {
      const bits = run
        .map((arg, bit) => (arg.reserved ? '' : `(${arg.name} ? ${1 << bit} : 0)`))
        .filter((bit) => bit !== '');
      return `to.octet(${bits.join(' | ') || '0'});`;
    }
    return run[0].type === 'table'
      ? `writeTable(to, ${variable(run[0].name)});`
      : `to.${run[0].type}(${value(run[0])});`;
  });
  return `${head} function write${pascal(name)}(to: FrameWriter, channel: number${parameters}): void {\nto.method(channel, methodIds.${camel(name)});\n${lines.join('\n')}\nto.end();\n}`;
}

const methods = parse(table);
const ids = methods.map(
  (method) => `/** \`${method.wireName}\` */\n${camel(method.name)}: 0x${method.id.toString(16).padStart(8, '0')},`,
);
const generated = '// Generated by scripts/generate-methods.mjs from scripts/amqp-methods.mjs: change those.\n';
const idsSource = `${generated}/** Class id and method id of every method in one number, as at the front of its frame. */
export const methodIds = {
${ids.join('\n')}
} as const;

/** The class id of basic, with which content headers begin. */
export const basicClass = methodIds.basicPublish >>> 16;
`;

/** The functions that read and write the methods of one direction. */
const codecSource = (isIn) => {
  const those = methods.filter(isIn);
  const codecs = those.flatMap((method) => [method.isRead && reader(method), method.isWritten && writer(method)]);
  const code = codecs.filter(Boolean).join('\n\n');
  const used = (names) => names.filter((name) => code.includes(name.replace('type ', ''))).join(', ');
  return `${generated}import { ${used(['type FieldTable', 'methodIds', 'writeTable'])} } from '../../../engine/message/index.js';
import type { FrameWriter } from '../frame/writer.js';
import { ${used(['emptyWriter', 'type MethodReader', 'readNoArguments', 'readTable'])} } from '../method-reader.js';

${code}
`;
};

async function put(path, text) {
  const target = source(path);
  const formatted = await format(text, { ...(await resolveConfig(target)), filepath: target });
  if (!process.argv.includes('--check')) return writeFileSync(target, formatted);
  if (readFileSync(target, 'utf8') === formatted) return;
  console.error(`${path} is not what scripts/generate-methods.mjs makes: run it again`);
  process.exitCode = 1;
}

await put('engine/message/codec/method-ids.ts', idsSource);
await put(
  'amqp/wire/methods/from-clients.ts',
  codecSource(({ direction }) => direction.includes('<')),
);
await put(
  'amqp/wire/methods/from-servers.ts',
  codecSource(({ direction }) => direction === '>'),
);
