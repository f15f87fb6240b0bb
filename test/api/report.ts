import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { type Entry, type Exported, root, type Surface } from './surface.js';

/** The report: every exported name with its declaration, and the types that these name. */
export async function reportOf(surface: Surface): Promise<string> {
  const seen = new Map<string, string>();
  const sections = surface.entries.map(({ specifier, exported }) => {
    const lines = byName(exported).map((one) => {
      const declaration = surface.declarationOf(one);
      const before = seen.get(`${one.name} ${declaration}`);
      if (before !== undefined) return `// ${one.name}: as of ${before}`;
      seen.set(`${one.name} ${declaration}`, specifier);
      return declaration;
    });
    return `## \`${specifier}\`: ${exported.length} names\n\n${codeOf(lines)}`;
  });
  const types = surface.named
    .filter(({ isClass }) => !isClass)
    .map(({ place }) => surface.declarationOf({ place, isType: true }))
    .sort((one, other) => compare(declaredName(one), declaredName(other)) || compare(one, other));
  const classes = surface.named.filter(({ isClass }) => isClass).map(({ place }) => `\`${place.name}\``);
  const text = `# API report

Written by \`npm run api\` out of the declarations of TypeScript, and compared by \`test/api/surface.spec.ts\`: a change of what users
can import is a difference here.

${sections.join('\n\n')}

## Types that these name, and no entry exports

${codeOf(types)}

## Classes that these name, and no entry exports

${[...new Set(classes)].sort(compare).join(', ')}
`;
  return formatted(text);
}

/** The page of the reference: every exported name with what it is, for a type only the name. */
export async function exportsPageOf({ entries }: Surface): Promise<string> {
  const text = `# Exports

Everything that the package exports. Editors show the doc comments, also those of types. What is not listed is internal
and may change at any time. Written by \`npm run api\`.

${entries.map(sectionOf).join('\n\n')}
`;
  return formatted(text);
}

function sectionOf({ specifier, exported }: Entry): string {
  const groups = new Map<string, Exported[]>();
  for (const one of exported) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  const lists = [...groups].map(([group, all]) => {
    const rows: string[] = [];
    const titles = new Map<string, string[]>();
    for (const one of byName(all)) {
      const title = titleOf(one);
      if (title === undefined) rows.push(`- \`${one.name}\`: ${firstSentence(one.doc)}`);
      else titles.set(title, [...(titles.get(title) ?? []), `\`${one.name}\``]);
    }
    for (const [title, names] of titles) rows.push(`- ${title}: ${names.join(', ')}`);
    return `### ${group}\n\n${rows.join('\n')}`;
  });
  return `## ${specifier}\n\n${lists.join('\n\n')}`;
}

/** Before the names of types, and of what another page describes; undefined for an export with a sentence of its own. */
function titleOf({ name, group, isType }: Exported): string | undefined {
  if (isType) return 'types';
  if (name.endsWith('Error')) return '[Errors](errors.md)';
  return group === 'Decorators of handlers' ? '[Decorators](decorators.md)' : undefined;
}

/** Its first statement of four words or more, in one line, without the braces of links. */
const firstSentence = (doc: string): string => {
  const plain = doc.replace(/\{@link ([^}\s]+)\s*\}/g, '`$1`').replace(/\s+/g, ' ');
  const [sentence = ''] = /^(?:\S+ ){3,}?\S*[.:;](?= |$)/.exec(plain) ?? [plain];
  return sentence.replace(/[.:;]$/, '');
};

const byName = (exported: readonly Exported[]): readonly Exported[] =>
  [...exported].sort((one, other) => compare(one.name, other.name));

const codeOf = (lines: readonly string[]): string => `\`\`\`ts\n${lines.join('\n\n')}\n\`\`\``;

const declaredName = (declaration: string): string =>
  /(?:interface|type|const|function|class|enum) (\w+)/.exec(declaration)?.[1] ?? declaration;

/** By code units: the same everywhere, whatever the locale. */
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const formatted = async (text: string): Promise<string> => {
  const config = await resolveConfig(join(root, 'docs/README.md'));
  return format(text, { ...config, parser: 'markdown' });
};
