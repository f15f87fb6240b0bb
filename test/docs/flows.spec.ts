import { describe, expect, it } from 'vitest';
import { exists, read } from './pages.js';

const src = 'libs/dlx-broker/src';
const flows = read('docs/walk.md').split('\n## Flows\n')[1] ?? '';

/** Each function with its file: `file`: `function`, and further functions of the same file behind it. */
function stepsOf(text: string): readonly (readonly [file: string, name: string])[] {
  const steps: [string, string][] = [];
  let file: string | undefined;
  for (const [, path, name] of text.matchAll(/`([\w/-]+\.ts)`|`(#?\w+)`/g)) {
    if (path !== undefined) file = path;
    else if (file !== undefined) steps.push([file, name!]);
  }
  return steps;
}

/** Whether a source defines a function or method of this name. */
const defines = (source: string, name: string): boolean =>
  new RegExp(`^\\s*(export )?(async )?(readonly )?(const |function )?${name}(<[^>]*>)?(\\(| =|: )`, 'm').test(source);

/** Words in backticks that name no function, such as an outcome that a handler throws. */
const noFunctions = new Set(['Park', 'RetryLater', 'file', 'function']);

describe('docs/walk.md', () => {
  it('ends with the flows', () => {
    expect([...flows.matchAll(/^### (\w+)/gm)].map(([, name]) => name)).toEqual([
      'Publish',
      'Dead',
      'Retry',
      'Durable',
    ]);
    expect(flows).not.toMatch(/^## /m);
  });

  const steps = flows.split('\n').flatMap((line) => stepsOf(line));
  it.each(steps.filter(([, name]) => !noFunctions.has(name)))('%s has %s', (file, name) => {
    expect(exists(`${src}/${file}`), file).toBe(true);
    expect(defines(read(`${src}/${file}`), name), `${file}: ${name}`).toBe(true);
  });
});
