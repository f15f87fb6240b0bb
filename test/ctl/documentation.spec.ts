import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../libs/dlx-broker/src/cli/ctl/commands.js';
import { withoutBroker } from '../../libs/dlx-broker/src/cli/ctl/help.js';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/reference/ctl.md'), 'utf8');

/** The rows of the table of commands: name, arguments, description. */
const rows = [...page.matchAll(/^\| `([a-z_]+)` *\|((?:[^|\\]|\\\|)*)\|([^|]*)\|$/gm)].map(([, name, usage, what]) => ({
  name,
  usage: usage?.trim().replaceAll('\\|', '|').replace(/^`|`$/g, ''),
  what: what?.trim(),
}));

describe('docs/reference/ctl.md', () => {
  it('has every command with its arguments, and no others', () => {
    const all = [...commands, ...withoutBroker.map((command) => ({ ...command, usage: '' }))];
    expect(rows.toSorted((one, other) => String(one.name).localeCompare(String(other.name)))).toEqual(
      all
        .map(({ name, usage, description }) => ({ name, usage, what: description }))
        .toSorted((one, other) => one.name.localeCompare(other.name)),
    );
  });
});
