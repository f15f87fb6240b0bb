import type typescript from 'typescript';

/** Text that is put into a file at a place of its old text. */
export interface Edit {
  readonly at: number;
  readonly text: string;
}

/** @param edits at different places, in any order */
export const edited = (source: string, edits: readonly Edit[]): string =>
  [...edits]
    .sort((one, other) => other.at - one.at)
    .reduce((text, { at, text: more }) => text.slice(0, at) + more + text.slice(at), source);

/** Import statements behind the last one of a file, in the style of its first one. */
export function importsAfter(
  ts: typeof typescript,
  file: typescript.SourceFile,
  imports: readonly (readonly [name: string, from: string])[],
): Edit {
  const all = file.statements.filter((statement) => ts.isImportDeclaration(statement));
  const first = all[0]?.getText(file) ?? `import '';`;
  const quote = first.includes('"') ? '"' : "'";
  const end = first.endsWith(';') ? ';' : '';
  const lines = imports.map(([name, from]) => `import { ${name} } from ${quote}${from}${quote}${end}`);
  const last = all.at(-1);
  return last === undefined
    ? { at: 0, text: `${lines.join('\n')}\n` }
    : { at: last.end, text: `\n${lines.join('\n')}` };
}

/** The spaces or tabs that the line of a place begins with. */
export function indentAt(source: string, at: number): string {
  const line = source.slice(source.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)![0];
}
