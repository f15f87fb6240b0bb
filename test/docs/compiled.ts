import { dirname, join } from 'node:path/posix';
import ts from 'typescript';
import type { Block } from './blocks.js';
import { read, root } from './pages.js';

/** Names that pieces of code use without an import, beside those of this package. */
const namesOfOthers: Readonly<Record<string, readonly string[]>> = {
  '@nestjs/common': ['Controller', 'Get', 'Injectable', 'Module', 'UseFilters', 'UseInterceptors'],
  '@nestjs/config': ['ConfigModule', 'ConfigService'],
  '@nestjs/core': ['NestFactory'],
  '@nestjs/microservices': [
    'type AsyncMicroserviceOptions',
    'Ctx',
    'EventPattern',
    'MessagePattern',
    'Payload',
    'RpcException',
  ],
  '@nestjs/testing': ['Test'],
  rxjs: ['firstValueFrom', 'lastValueFrom', 'mergeMap'],
};

/** Every name of this package by its entry, as the list of exports has them. */
function ownNames(): [entry: string, name: string][] {
  const names: [string, string][] = [];
  let entry = '';
  for (const [, heading, name, title, list] of read('docs/reference/exports.md').matchAll(
    /^## (dlx-broker\S*)$|^- (?:`(\w+)`|(types|\[\w+\]\(\S+\)): (.*))/gm,
  )) {
    if (heading !== undefined) entry = heading;
    else if (name !== undefined) names.push([entry, name]);
    else
      for (const [, one] of list!.matchAll(/`(\w+)`/g)) names.push([entry, title === 'types' ? `type ${one}` : one!]);
  }
  return names;
}

const uses = (text: string, name: string): boolean => new RegExp(`(?<![\\w.'])${name}(?!\\w)`).test(text);
const declares = (text: string, name: string): boolean =>
  new RegExp(`\\b(class|interface|const|let|type|function) ${name}\\b`).test(text);

/** The name that a line of a comment `<!-- given ... -->` declares. */
const nameIn = (line: string): string => /(?:class|interface|const|type|function) (\w+)/.exec(line)?.[1] ?? '';

/** The declarations that a text needs, also for one another. */
function neededOf(given: readonly string[], text: string): string[] {
  const needed = new Set<string>();
  let all = text;
  for (let before = -1; before !== needed.size;) {
    before = needed.size;
    for (const line of given) if (uses(all, nameIn(line)) && !declares(text, nameIn(line))) needed.add(line);
    all = [text, ...needed].join('\n');
  }
  return [...needed];
}

const imports = /^import .* from '.*';$/m;

/** A module of a block: the block alone if it has imports, otherwise with those that it needs. */
function moduleOf(block: Block): string {
  const body = block.note === 'member' ? `class Handlers {\n${block.text}}\n` : block.text;
  const declarations = neededOf(block.given, block.text).join('\n');
  const text = `${declarations}\n${body}`;
  if (imports.test(block.text)) return `${declarations}\n${body}\nexport {};\n`;
  const others = Object.entries(namesOfOthers).flatMap(([from, names]) => names.map((name) => [from, name] as const));
  const lines = new Map<string, string>();
  for (const [from, name] of [...ownNames(), ...others]) {
    const bare = name.replace('type ', '');
    if (lines.has(bare) || !uses(text, bare) || declares(text, bare)) continue;
    lines.set(bare, `import { ${name} } from '${from}';`);
  }
  return `${[...lines.values()].join('')}${text}\nexport {};\n`;
}

function optionsOfTests(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  return { ...options, noUnusedLocals: false, noUnusedParameters: false, sourceMap: false };
}

/** The errors of blocks by their places, in one program for all of them. */
export function errorsOf(blocks: readonly Block[]): Record<string, string[]> {
  const sources = new Map(
    blocks.map((block) => [join(root, dirname(block.page), `${block.line}.${ownName(block)}.ts`), block] as const),
  );
  const options = optionsOfTests();
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.getSourceFile = (file, version, ...rest) => {
    const block = sources.get(file);
    return block === undefined
      ? getSourceFile(file, version, ...rest)
      : ts.createSourceFile(file, moduleOf(block), version);
  };
  const program = ts.createProgram([...sources.keys()], options, host);
  const errors: Record<string, string[]> = {};
  for (const [file, { page, line }] of sources) {
    const source = program.getSourceFile(file)!;
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    if (found.length > 0)
      errors[`${page}:${line}`] = found.map(({ messageText, start = 0 }) => {
        const { line: at } = source.getLineAndCharacterOfPosition(start);
        return `${ts.flattenDiagnosticMessageText(messageText, '\n')}\n    ${source.text.split('\n')[at]}`;
      });
  }
  return errors;
}

const ownName = ({ page }: Block): string => page.replace(/.*\/|\.md$/g, '');
