import type { OpenPort } from '../host.js';
import type { Management } from '../management.js';

/** All ports of this broker, sorted by protocol and number. */
export function portsOf({ host }: Management): readonly OpenPort[] {
  const all = [...(host.ports?.() ?? [])];
  return all.sort((one, other) => compare(one.protocol, other.protocol) || one.port - other.port);
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
