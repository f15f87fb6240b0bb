import { formatJson, parseJson } from '../pages/message/json';
import { visible } from '../ui/parts';
import { diffLines, withContext } from './diff';

/** The lines that differ between two bodies, with a few equal ones around them. */
export function BodyDiff({ before, after }: { before: string; after: string }) {
  return (
    <pre class="code diff" tabIndex={0}>
      {withContext(diffLines(before, after)).map((part, index) =>
        'skipped' in part ? (
          <span key={index} class="diff-skipped">
            {part.skipped} equal {part.skipped === 1 ? 'line' : 'lines'}
            {'\n'}
          </span>
        ) : (
          part.lines.map(({ kind, text }, line) => (
            <span key={`${index} ${line}`} class={`diff-${kind}`}>
              {{ same: '  ', removed: '- ', added: '+ ' }[kind]}
              {visible(text)}
              {'\n'}
            </span>
          ))
        ),
      )}
    </pre>
  );
}

/** JSON is compared with one member on a line; another text as it is. */
export function readable(text: string): string {
  const node = parseJson(text);
  return node === undefined ? text : formatJson(node);
}
