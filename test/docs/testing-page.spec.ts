import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it.each(['modules/vitest.config.ts', 'modules/vitest-3.config.ts'])(
  'the testing page shows the configuration that the nightly script tries: %s',
  (file) => {
    expect(read('docs/guide/testing.md')).toContain(`\n${read(`test/consumers/${file}`)}\`\`\`\n`);
  },
);
