import type typescript from 'typescript';
import { edited, indentAt } from './edits.js';

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
