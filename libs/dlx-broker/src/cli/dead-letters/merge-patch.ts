import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { shownLines, shownText } from '../../platform/index.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { diffOf } from './diff.js';
import { isJson, prettyJson } from './json-layout.js';

/** A message before and after an edit, as a dry run shows it. */
export interface EditPair {
  readonly id: string;
  readonly before: EditSide;
  readonly after: EditSide;
}

interface EditSide {
  readonly payload: string | null;
  readonly payload_truncated: boolean;
}

/** Why messages stay that cannot be edited. */
export const notEdited: Readonly<Partial<Record<string, string>>> = {
  unchanged: 'the patch changes nothing',
  undecodable: 'the body is no JSON object',
  too_large: 'the body is too large for a patch',
  unreadable: 'the body cannot be read from disk',
  invalid: 'the broker would refuse the edited message',
  not_kept: 'the queue for the originals is missing or full',
};

/**
 * The edit that the options describe; undefined without --merge-patch.
 * @param isChosen true if ids or a filter choose the messages
 * @throws CtlFailure
 */
export async function editBy(
  { mergePatch, keepOriginal }: { readonly mergePatch?: string; readonly keepOriginal?: true },
  isChosen: boolean,
): Promise<object | undefined> {
  const refuse = (why: string): CtlFailure => new CtlFailure(exit.usage, `Error: ${why}`);
  if (mergePatch === undefined) {
    if (keepOriginal === true) throw refuse('--keep-original goes with --merge-patch');
    return undefined;
  }
  if (!isChosen) throw refuse('--merge-patch needs ids or a filter: otherwise it would change every message');
  const text = await read(mergePatch);
  // The server refuses whole numbers that JSON.parse rounds.
  const patch = valueOf(text);
  if (patch === undefined) throw new CtlFailure(exit.data, `Error: --merge-patch '${mergePatch}' is no JSON`);
  return { merge_patch: patch, ...(keepOriginal === true && { keep_original: true }) };
}

const read = (path: string): Promise<string> =>
  path === '-'
    ? textOf(process.stdin)
    : readFile(path, 'utf8').catch((error: Error) => {
        throw new CtlFailure(exit.data, `Error: --merge-patch cannot be read: ${error.message}`);
      });

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The changes of the first messages, body by body. */
export const pairsText = (pairs: readonly EditPair[]): string =>
  pairs
    .map(({ id, before, after }) => {
      const changes = diffOf(linesOf(before), linesOf(after)).join('\n');
      return `message ${shownText(id)}${before.payload_truncated ? ' (its beginning)' : ''}\n${shownLines(changes)}\n`;
    })
    .join('\n');

const linesOf = ({ payload }: EditSide): string =>
  payload === null ? '' : isJson(payload) ? prettyJson(payload) : payload;
