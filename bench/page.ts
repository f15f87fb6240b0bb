import { cpus, loadavg, platform, totalmem } from 'node:os';

/** The machine in a sentence. */
export function machine(): string {
  const model = cpus()[0]?.model.trim().replace(/\s+/g, ' ') ?? '';
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB of memory`;
  return `${cpus().length} cores (${model === '' ? process.arch : model}), ${memory}, ${platform()}, Node ${process.version}`;
}

/** How much else the machine has to do: processes that want a processor, on average over a minute. */
export const load = (): string => (loadavg()[0] as number).toFixed(1);
