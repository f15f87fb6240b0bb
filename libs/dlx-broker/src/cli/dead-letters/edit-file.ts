import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CtlFailure, exit } from '../ctl/exit.js';
import { type Draft, draftText, readDraft } from './draft.js';

/** The user does not want the edit. The text is not opened again. */
export class EditEnded extends CtlFailure {}

/** A draft in a file that only its owner can read, for an editor. */
export class EditFile {
  private constructor(
    private readonly directory: string,
    readonly path: string,
  ) {}

  /** @param comments lines that are shown above the draft */
  static async write(draft: Draft, comments: readonly string[]): Promise<EditFile> {
    const directory = await mkdtemp(join(tmpdir(), 'dlx-broker-')); // mode 0700
    const file = new EditFile(directory, join(directory, 'message.txt'));
    const head = comments.map((line) => `# ${line}\n`).join('');
    await writeFile(file.path, `${head}\n${draftText(draft)}`, { mode: 0o600 });
    return file;
  }

  /** Opens the editor. @returns the draft as the user left it @throws CtlFailure */
  async edit(editor: (path: string) => Promise<number>): Promise<Draft> {
    const code = await editor(this.path);
    if (code !== 0) throw new EditEnded(exit.data, `Error: the editor ended with ${code}, and nothing was sent`);
    return readDraft(await readFile(this.path, 'utf8'));
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}
