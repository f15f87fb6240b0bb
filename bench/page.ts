import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, platform, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

/** The folder of the pages, of the checkout in which the benchmark was built. */
export const internals = fileURLToPath(new URL('../../docs/internals/', import.meta.url));

/** The machine in a sentence. */
export function machine(): string {
  const model = cpus()[0]?.model.trim().replace(/\s+/g, ' ') ?? '';
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB of memory`;
  return `${cpus().length} cores (${model === '' ? process.arch : model}), ${memory}, ${platform()}, Node ${process.version}`;
}

/** How much else the machine has to do: processes that want a processor, on average over a minute. */
export const load = (): string => (loadavg()[0] as number).toFixed(1);

/**
 * Replaces what stands between `<!-- NAME -->` and `<!-- /NAME -->`. The rest of the page is written by hand.
 * @throws if the page has no such place
 */
export function withSection(page: string, name: string, lines: readonly string[]): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no place '${start}' ... '${end}'`);
  return `${page.slice(0, from + start.length)}\n\n${lines.join('\n')}\n\n${page.slice(to)}`;
}

/** A page below docs/internals. @param file for example `costs.md` */
function pageAt(file: string): { readonly path: string; readonly text: string } {
  const path = `${internals}${file}`;
  if (!existsSync(path)) throw new Error(`there is no page ${path}: run the benchmark in a checkout`);
  return { path, text: readFileSync(path, 'utf8') };
}

/** Checks before a long run that {@link writeSection} has a place to write to. @throws if it has none */
export function checkSection(file: string, name: string): void {
  withSection(pageAt(file).text, name, []);
}

/** Writes such a place of a page below docs/internals. @param file for example `costs.md` */
export async function writeSection(file: string, name: string, lines: readonly string[]): Promise<string> {
  const { path, text: before } = pageAt(file);
  const text = withSection(before, name, lines);
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
  return path;
}
