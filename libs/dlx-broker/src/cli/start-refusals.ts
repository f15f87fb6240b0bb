import { bracketed } from '../platform/index.js';
import type { ServeOptions } from '../server/serve/serve.js';
import { Refusal } from './refusal.js';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: name another one, or 0 for any that is free',
  EACCES: 'is not allowed: name one from 1024 on, or 0 for any that is free',
};

/** What a port of `serve` is refused for, with the option that names it; undefined for other errors. The port of AMQP is opened last. */
export function portRefusal(error: unknown, options: ServeOptions): Refusal | undefined {
  const { code = '', address = '', port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const reason = reasons[code];
  if (reason === undefined || port === undefined) return undefined;
  const option = (['amqp', 'http', 'metrics'] as const).find((name) => options[name]?.port === port);
  return new Refusal(
    `the port ${bracketed(address)}:${port}${option === undefined ? '' : ` of --${option}`} ${reason}`,
  );
}

/** What the definitions of `serve` are refused for, with their file; undefined for other errors. */
export function definitionsRefusal(error: unknown, file: string | undefined): Refusal | undefined {
  if (!(error instanceof Error) || error.name !== 'Problem') return undefined;
  return new Refusal(`the definitions ${file} cannot be used: ${error.message}`);
}
