import { expect, it, vi } from 'vitest';
import { read } from '../docs/pages.js';

const page = read('docs/reference/engine.md');
const example = read('test/examples/engine.ts');

it('docs/reference/engine.md shows the program that is run here, and what it prints', async () => {
  expect(page).toContain(`\`\`\`ts\n${example}\`\`\``);
  const [, said = ''] = /```text\n([\s\S]*?)```/.exec(page) ?? [];
  const lines: string[] = [];
  const print = vi.spyOn(console, 'log').mockImplementation((...words) => void lines.push(words.join(' ')));
  await import('../examples/engine.js');
  print.mockRestore();
  expect(`${lines.join('\n')}\n`).toBe(said);
});
