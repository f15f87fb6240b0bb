import { describe, expect, it } from 'vitest';
import { terminalOf } from './terminal.js';

/** A process whose user sits at a terminal. */
const attended = {
  stdin: { isTTY: true },
  stdout: { isTTY: true },
  stderr: { isTTY: true },
  env: {},
} as unknown as NodeJS.Process;

describe('terminalOf', () => {
  it('says what to do where there is no shell for an editor, as on Windows', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = '/nowhere';
    try {
      await expect(terminalOf(attended).edit?.('message.txt')).rejects.toThrow(
        "Error: no editor can be opened, because there is no shell 'sh', as on Windows outside WSL; give --body, --header or --remove-header",
      );
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});
