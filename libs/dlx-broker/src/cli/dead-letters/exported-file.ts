import { createReadStream } from 'node:fs';
import { CtlFailure, exit } from '../ctl/exit.js';
import { bodyOf, type JsonObject, sumOf } from './identity.js';
import { Lines } from './lines.js';

/** The sum of each message of an export by its id. A message without its body has an empty sum, which none equals. */
export type ExportedSums = ReadonlyMap<string, string>;

/**
 * Reads a file that `dead-letters export` wrote. Only sums stay in memory.
 * @throws CtlFailure with the number of the first line that is not as an export writes it
 */
export async function readExported(path: string): Promise<ExportedSums> {
  const sums = new Map<string, string>();
  const lines = new Lines();
  let number = 0;
  const refuse = (why: string): CtlFailure =>
    new CtlFailure(exit.data, `Error: --exported '${path}', line ${number}: ${why}; nothing was deleted`);
  const add = (line: string): void => {
    number++;
    const message = objectIn(line);
    const id = message?.['id'];
    if (message === undefined || typeof id !== 'string' || !/^\d{1,16}$/.test(id))
      throw refuse("is no line of 'dead-letters export'");
    const sum = sumIn(message);
    if (sum === undefined) throw refuse('has not the whole body of its message, so a part of the line is lost');
    if ((sums.get(id) ?? sum) !== sum) throw refuse(`has message ${id} again with another content; give one export`);
    sums.set(id, sum);
  };
  try {
    for await (const part of createReadStream(path)) {
      const complete = lines.add(part as Buffer);
      if (complete !== '') for (const line of complete.slice(0, -1).split('\n')) add(line);
    }
  } catch (error) {
    if (error instanceof CtlFailure) throw error;
    throw new CtlFailure(exit.data, `Error: --exported cannot be read: ${(error as Error).message}`);
  }
  number++;
  if (lines.rest !== '') throw refuse('has no end, so the export broke off');
  return sums;
}

/** Undefined if the text is no JSON object. */
export function objectIn(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Empty if the broker could not read the body; undefined if the line lost a part of it. */
function sumIn(message: JsonObject): string | undefined {
  if (message['payload'] === null && 'payload_error' in message) return '';
  const body = bodyOf(message);
  return body === undefined ? undefined : sumOf(message, body);
}
