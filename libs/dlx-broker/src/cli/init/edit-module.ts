import type typescript from 'typescript';

/** What a module gets. */
export interface ModuleAdditions {
  readonly imports: readonly (readonly [name: string, from: string])[];
  /** By the property of `@Module()`. */
  readonly properties: Readonly<Record<string, string>>;
}

/**
 * Adds to the first class with `@Module({...})`.
 * @returns the new text; undefined if there is no such class, or if one of the properties is no list that can be added to
 */
export function addToModule(ts: typeof typescript, source: string, additions: ModuleAdditions): string | undefined {
  const file = ts.createSourceFile('module.ts', source, ts.ScriptTarget.Latest, true);
  const options = optionsOf(ts, file);
  if (options === undefined) return undefined;
  const edits: Edit[] = [importsAfter(ts, file, additions.imports)];
  const missing: string[] = [];
  for (const [name, element] of Object.entries(additions.properties)) {
    const property = options.properties.find((one) => one.name?.getText(file) === name);
    if (property === undefined) missing.push(`${name}: [${element}],`);
    else if (!ts.isPropertyAssignment(property) || !ts.isArrayLiteralExpression(property.initializer)) return undefined;
    else edits.push(elementOf(source, property.initializer, element));
  }
  if (missing.length > 0) edits.push(propertiesOf(source, options, missing));
  return edited(source, edits);
}

function optionsOf(ts: typeof typescript, file: typescript.SourceFile): typescript.ObjectLiteralExpression | undefined {
  for (const statement of file.statements) {
    if (!ts.isClassDeclaration(statement)) continue;
    for (const { expression } of ts.getDecorators(statement) ?? []) {
      if (!ts.isCallExpression(expression) || expression.expression.getText(file) !== 'Module') continue;
      const [options] = expression.arguments;
      if (options !== undefined && ts.isObjectLiteralExpression(options)) return options;
    }
  }
  return undefined;
}

/** A further element of a list, on a line of its own where the last one is. */
function elementOf(source: string, list: typescript.ArrayLiteralExpression, element: string): Edit {
  const { elements } = list;
  const last = elements.at(-1);
  if (last === undefined) return { at: elements.pos, text: element };
  const apart = source.slice(list.getStart(), last.getStart()).includes('\n');
  const before = apart ? `\n${indentAt(source, last.getStart())}` : ' ';
  return elements.hasTrailingComma
    ? { at: elements.end, text: `${before}${element}${apart ? ',' : ''}` }
    : { at: last.end, text: `,${before}${element}` };
}

function propertiesOf(
  source: string,
  options: typescript.ObjectLiteralExpression,
  properties: readonly string[],
): Edit {
  const [first] = options.properties;
  const outer = indentAt(source, options.getStart());
  const indent = first === undefined ? `${outer}  ` : indentAt(source, first.getStart()) || `${outer}  `;
  const lines = properties.map((property) => `\n${indent}${property}`).join('');
  return { at: options.properties.pos, text: first === undefined ? `${lines}\n${outer}` : lines };
}

/**
 * Adds `enableShutdownHooks()` behind the statement that makes the application: without it, SIGTERM ends handlers at work.
 * @returns the new text; undefined if no variable holds an application of `NestFactory`
 */
export function addShutdownHooks(ts: typeof typescript, source: string): string | undefined {
  const file = ts.createSourceFile('main.ts', source, ts.ScriptTarget.Latest, true);
  const visit = (node: typescript.Node): string | undefined => {
    if (ts.isVariableStatement(node)) {
      const made = node.declarationList.declarations.find((one) => isApplication(ts, file, one));
      if (made !== undefined) {
        const end = node.getText(file).endsWith(';') ? ';' : '';
        const text = `\n${indentAt(source, node.getStart(file))}${made.name.getText(file)}.enableShutdownHooks()${end}`;
        return edited(source, [{ at: node.end, text }]);
      }
    }
    return ts.forEachChild(node, visit);
  };
  return visit(file);
}

function isApplication(
  ts: typeof typescript,
  file: typescript.SourceFile,
  { name, initializer }: typescript.VariableDeclaration,
): boolean {
  if (!ts.isIdentifier(name) || initializer === undefined || !ts.isAwaitExpression(initializer)) return false;
  const { expression } = initializer;
  return ts.isCallExpression(expression) && expression.expression.getText(file).startsWith('NestFactory.create');
}

/** Text that is put into a file at a place of its old text. */
export interface Edit {
  readonly at: number;
  readonly text: string;
}

/** @param edits at different places, in any order; they get the line endings of the source */
export function edited(source: string, edits: readonly Edit[]): string {
  const ending = source.includes('\r\n') ? '\r\n' : '\n';
  return [...edits]
    .sort((one, other) => other.at - one.at)
    .reduce((text, { at, text: more }) => text.slice(0, at) + more.replaceAll('\n', ending) + text.slice(at), source);
}

/** Import statements behind the last one of a file, in the style of its first one. */
function importsAfter(
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
function indentAt(source: string, at: number): string {
  const line = source.slice(source.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)![0];
}
