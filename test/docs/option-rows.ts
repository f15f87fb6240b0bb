import ts from 'typescript';
import { read } from './pages.js';

/**
 * Options with their doc comments, as rows of one cell, in the order of the source; each name once.
 * @param places the interfaces, as `file: Name, Name`, below the sources of the library
 */
export function optionRows(...places: readonly string[]): readonly (readonly [string])[] {
  const docs = new Map<string, string>();
  for (const place of places) {
    const [file = '', names = ''] = place.split(': ');
    const path = `libs/dlx-broker/src/${file}`;
    const { statements } = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
    const declared = statements.filter(ts.isInterfaceDeclaration);
    for (const name of names.split(', ')) {
      for (const member of declared.find((one) => one.name.text === name)?.members ?? []) {
        const doc = docOf(member);
        if (doc !== '' && member.name !== undefined) docs.set(member.name.getText(), doc);
      }
    }
  }
  return [...docs].map(([name, doc]) => [`\`${name}\`: ${doc}`]);
}

/** A doc comment in one line, without links and without its last full stop. */
function docOf(member: ts.TypeElement): string {
  const comments = ts.getJSDocCommentsAndTags(member).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '');
  const plain = comments.join(' ').replace(/\{@link ([^}\s]+)\s*\}/g, '`$1`');
  return plain.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}
