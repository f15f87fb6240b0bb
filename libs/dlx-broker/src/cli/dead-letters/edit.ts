import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { shownJson, shownLines, shownText } from '../../platform/index.js';
import type { Api } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { ask, shownQueue, vhostOf, type CommandOutput, type CommonFlags } from './ask.js';
import { diffOf } from './diff.js';
import { changesOf, type Draft, draftOf, draftText, type Editable, withHeaders } from './draft.js';
import { EditEnded, EditFile } from './edit-file.js';
import { askMessage } from './list.js';
import { addressIn, unknown } from './redrive.js';

export interface EditFlags extends CommonFlags {
  /** A file, or `-` for standard input. */
  readonly body?: string;
  readonly header?: readonly string[];
  readonly removeHeader?: readonly string[];
  readonly to?: string;
  readonly allowInvalid?: true;
  readonly keepOriginal?: true;
  readonly yes?: true;
  readonly dryRun?: true;
}

/** The answer to an edit. */
interface Outcome {
  readonly moved: boolean;
  readonly exchange: string | null;
  readonly routing_key: string | null;
  readonly destinations: readonly string[];
  readonly why?: string;
  readonly audit: number | null;
}

interface Letter extends Editable {
  readonly payload_truncated: boolean;
}

/** Changes a message and redrives it. The broker removes the original after it has the new message. */
export async function edit(
  queue: string,
  id: string,
  flags: EditFlags,
  api: Api,
  output: CommandOutput,
): Promise<number | void> {
  const letter = (await askMessage(queue, id, flags, api)).body as Letter;
  if (typeof letter.payload !== 'string')
    throw new CtlFailure(exit.unavailable, 'Error: the body of the message cannot be read from disk');
  if (hasOptions(flags)) return redriven(queue, id, letter, await draftBy(letter, flags), flags, api, output);
  const editor = output.terminal?.edit;
  const remedy = 'give --body, --header or --remove-header';
  if (editor === undefined) throw new CtlFailure(exit.usage, `Error: there is no terminal for an editor; ${remedy}`);
  if (letter.payload_truncated)
    throw new CtlFailure(exit.usage, 'Error: the body is too long for an editor; give a new one with --body FILE');
  const file = await EditFile.write(draftOf(letter), [
    `Message ${shownText(id)} of ${shownText(shownQueue(queue, vhostOf(flags)))}.`,
    'Change the headers, which have their AMQP types, or the body; save, and close the editor.',
    'The changes are shown before anything is sent. Without a change nothing happens.',
  ]);
  const remember = forgetInterrupts(output);
  try {
    for (;;) {
      try {
        const draft = await file.edit(editor);
        return await redriven(queue, id, letter, draft, flags, api, output);
      } catch (error) {
        if (!(await isTriedAgain(error, output))) throw error;
      }
    }
  } finally {
    // The text may be personal data.
    await file.remove();
    remember();
  }
}

/** Keeps an interrupt that is meant for the editor from ending this process, which then could not remove the file. */
function forgetInterrupts({ terminal }: CommandOutput): () => void {
  let undo: (() => void) | undefined;
  const again = (): void => void (undo = terminal?.onInterrupt(again));
  again();
  return () => undo?.();
}

/** Asks whether the editor opens again with a text that cannot be sent. */
async function isTriedAgain(fault: unknown, { error, terminal }: CommandOutput): Promise<boolean> {
  if (!(fault instanceof CtlFailure) || fault instanceof EditEnded || terminal?.confirm === undefined) return false;
  error(fault.message);
  return terminal.confirm('Open your text again? Otherwise it is removed.');
}

const hasOptions = ({ body, header = [], removeHeader = [] }: EditFlags): boolean =>
  body !== undefined || header.length > 0 || removeHeader.length > 0;

/** The draft that the options describe. */
async function draftBy(letter: Letter, { body, header = [], removeHeader = [] }: EditFlags): Promise<Draft> {
  const draft = draftOf(letter);
  const headers = withHeaders(draft.headers, header, removeHeader);
  if (body === undefined) return { ...draft, headers };
  const given = body === '-' ? await textOf(process.stdin) : (await bytesOf(body)).toString(encodingFor(letter));
  return { headers, body: letter.payload_encoding === 'string' ? draftOf({ ...letter, payload: given }).body : given };
}

/** A body of bytes is compared and sent as base64. */
const encodingFor = ({ payload_encoding: encoding }: Letter): 'utf8' | 'base64' =>
  encoding === 'base64' ? 'base64' : 'utf8';

const bytesOf = (path: string): Promise<Buffer> =>
  readFile(path).catch((error: Error) => {
    throw new CtlFailure(exit.data, `Error: --body cannot be read: ${error.message}`);
  });

/** Shows the changes and where the message would go, asks, and sends. */
async function redriven(
  queue: string,
  id: string,
  letter: Letter,
  draft: Draft,
  flags: EditFlags,
  api: Api,
  output: CommandOutput,
): Promise<number | void> {
  const { out, error, terminal } = output;
  const isJson = flags.json === true;
  const changes = changesOf(letter, draft);
  if (changes === undefined) return error("Nothing is changed. 'dlx-broker dead-letters redrive' sends it as it is.");
  if (!isJson) out(shownLines(diffOf(draftText(draftOf(letter)), draftText(draft)).join('\n')));
  const request = {
    ...changes,
    ...(flags.to !== undefined && { to: addressIn(flags.to) }),
    ...(flags.allowInvalid === true && { allow_invalid: true }),
    ...(flags.keepOriginal === true && { keep_original: true }),
  };
  const path = ['dlx', 'queues', vhostOf(flags), queue, 'messages', id, 'edit'];
  const missing = `message ${id} in ${shownQueue(queue, vhostOf(flags))}`;
  const post = (dryRun: boolean) => ask(api, 'POST', path, missing, { body: { ...request, dry_run: dryRun } });

  const preview = await post(true);
  const would = preview.body as Outcome;
  if (isJson && (flags.dryRun === true || would.why !== undefined)) out(shownJson(preview.text));
  if (would.why !== undefined)
    throw new CtlFailure(exit.data, `Error: the message stays where it is: ${whyText(would)}`);
  if (flags.dryRun === true) return isJson ? undefined : out(`would go to ${placeText(would)}`);
  if (flags.yes !== true) {
    if (terminal?.confirm === undefined)
      throw new CtlFailure(exit.usage, 'Error: there is no user to ask; --yes sends the message without a question');
    const question = `Send it to ${placeText(would)}, and remove message ${shownText(id)} from '${shownText(queue)}'?`;
    if (!(await terminal.confirm(question))) throw new EditEnded(exit.data, 'Nothing was sent.');
  }
  const reply = await post(false);
  const outcome = reply.body as Outcome;
  if (isJson) out(shownJson(reply.text));
  if (!outcome.moved) throw new CtlFailure(exit.data, `Error: the message stays where it is: ${whyText(outcome)}`);
  if (!isJson) out(`sent to ${placeText(outcome)}; entry ${outcome.audit} of the audit log`);
}

const addressText = ({ exchange, routing_key: key }: Outcome): string => shownText(`${exchange}/${key}`);

const placeText = (outcome: Outcome): string =>
  `${addressText(outcome)} (${outcome.destinations.map((name) => `queue '${shownText(name)}'`).join(', ')})`;

const whyText = (outcome: Outcome): string =>
  outcome.exchange === null ? unknown(String(outcome.why)) : `${outcome.why}: ${addressText(outcome)}`;
