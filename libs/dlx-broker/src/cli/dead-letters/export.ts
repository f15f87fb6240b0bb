import { type FileHandle, open } from 'node:fs/promises';
import { shownJson } from '../../platform/index.js';
import type { Api } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { ask, noneOf, shownQueue, vhostOf, type CommandOutput, type CommonFlags } from './ask.js';
import { filterOf, type FilterFlags, refuseBoth } from './filter.js';
import { Lines } from './lines.js';

export interface ExportFlags extends CommonFlags, FilterFlags {
  readonly limit?: string;
  readonly output?: string;
}

/** Writes messages as lines of JSON, as fast as the reader of the lines reads. Nothing is taken out of the queue. */
export async function exportLetters(
  queue: string,
  ids: readonly string[],
  flags: ExportFlags,
  api: Api,
  { out, error, terminal }: CommandOutput,
): Promise<void> {
  refuseBoth(ids, flags);
  const { limit, output } = flags;
  const query = {
    ...filterOf(flags).query,
    ...(ids.length > 0 && { ids: ids.join(',') }),
    ...(limit !== undefined && { limit }),
  };
  const path = ['dlx', 'queues', vhostOf(flags), queue, 'export'];
  const lines = new Lines();
  let file: FileHandle | undefined;
  try {
    await ask(api, 'GET', path, shownQueue(queue, vhostOf(flags)), {
      query,
      receive: async (part) => {
        const text = shownJson(lines.add(part));
        if (text === '') return;
        // Opened at the first line: a refused export leaves no file.
        if (output !== undefined) await (file ??= await opened(output)).appendFile(text);
        else if (terminal !== undefined) await terminal.write(text);
        else out(text.slice(0, -1));
      },
    });
    if (ids.length > 0 && lines.count === 0) throw noneOf(ids, queue, vhostOf(flags));
    if (output !== undefined) file ??= await opened(output); // no message, and so an empty file
  } finally {
    await file?.close();
  }
  if (output !== undefined) error(`${lines.count} messages written to ${output}`);
}

/** Messages may be secret. @throws CtlFailure */
const opened = (path: string): Promise<FileHandle> =>
  open(path, 'w', 0o600).catch((fault: Error) => {
    throw new CtlFailure(exit.data, `Error: --output cannot be written: ${fault.message}`);
  });
