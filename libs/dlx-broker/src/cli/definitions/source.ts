import { shownText } from '../../platform/index.js';
import type { LoginFlags } from '../ctl/address.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { damageIn } from '../data.js';
import { restored } from '../data-restored.js';
import { Refusal } from '../refusal.js';
import { apiOf } from '../with-api.js';
import { type Definitions, isObject } from './rows.js';

export interface SourceFlags extends LoginFlags {
  readonly data?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The definitions of a running server, asked over HTTP, or of a data directory that no broker uses.
 * @throws CtlFailure of the server; StoreError or Refusal of the directory
 */
export async function definitionsOf(flags: SourceFlags, env: Environment): Promise<Definitions> {
  if (flags.data !== undefined) return definitionsIn(flags.data, flags);
  const api = apiOf('definitions', flags, env);
  const { body } = await api.call('GET', ['definitions'], [200]);
  if (isObject(body)) return body;
  throw new CtlFailure(exit.unavailable, `Error: what is at '${api.address.base}' has no definitions`);
}

async function definitionsIn(directory: string, { url, user, password }: SourceFlags): Promise<Definitions> {
  for (const [name, value] of Object.entries({ url, user, password }))
    if (value !== undefined) throw new Refusal(`--${name} is about a running server, and --data names a directory`);
  if (directory === '') throw new Refusal('--data must name a directory');
  const { exportBroker } = await import('../../server/index.js');
  const { broker, data } = await restored(directory);
  try {
    const [damage] = damageIn(data);
    if (damage !== undefined)
      throw new Refusal(`${shownText(damage)}. Look with 'data check', and start a broker on it first`);
    // The rows are made when they are written.
    return JSON.parse(JSON.stringify(exportBroker(broker))) as Definitions;
  } finally {
    await data.close();
  }
}
