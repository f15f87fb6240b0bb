import type typescript from 'typescript';
import { type Edit, edited, importsAfter, indentAt } from './edits.js';

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
