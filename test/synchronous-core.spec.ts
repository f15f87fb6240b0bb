import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const source = resolve(import.meta.dirname, '../libs/dlx-broker/src');

/** What no lint rule says: a command of the core runs to its end, so nothing in it is awaited. */
describe('the core is synchronous:', () => {
  it.each(['engine/message', 'engine/broker'])('%s waits for nothing', (room) => {
    const folder = join(source, room);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'),
    );
    expect(files.length).toBeGreaterThan(0);
    const waits = files.filter((name) => waitsFor(readFileSync(join(folder, name), 'utf8')));
    expect(waits).toEqual([]);
  });

  it.each([
    'export async function f() {}',
    'for await (const x of y);',
    'export const z = await y;',
    'const p: Promise<number> = q;',
  ])('the search finds it in: %s', (code) => {
    expect(waitsFor(code)).toBe(true);
  });

  it('the search passes over words and comments', () => {
    expect(waitsFor(`// async, await, Promise\nexport const text = 'await';\n`)).toBe(false);
  });
});

function waitsFor(code: string): boolean {
  const visit = (node: ts.Node): boolean =>
    node.kind === ts.SyntaxKind.AsyncKeyword ||
    node.kind === ts.SyntaxKind.AwaitKeyword ||
    ts.isAwaitExpression(node) ||
    (ts.isIdentifier(node) && node.text === 'Promise') ||
    (ts.forEachChild(node, (child) => visit(child) || undefined) ?? false);
  return visit(ts.createSourceFile('core.ts', code, ts.ScriptTarget.Latest, true));
}
