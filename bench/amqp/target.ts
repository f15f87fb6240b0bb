import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

/** A server under load. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly vhost: string;
  readonly user: string;
  readonly password: string;
  readonly pid: number;
  /** Where a server of ours tells its memory, see memory-probe.ts. */
  readonly probe?: string;
  /** Of one that is no server but a disk. */
  readonly folder?: string;
}

/** As client libraries take it. */
export const urlOf = ({ user, password, host, port, vhost }: Target): string =>
  `amqp://${user}:${password}@${host}:${port}/${encodeURIComponent(vhost)}?heartbeat=0`;

/** Microseconds of a clock tick in /proc. */
const tick = 10_000;

/** Microseconds of processor time that a process has used so far, user and system, all of its threads. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tick;
}

/** Bytes of memory that a process occupies. */
export function residentOf(pid: number): number {
  const match = /^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(match?.[1]) * 1024;
}

/** Bytes in use after a collection of garbage; undefined when the server cannot say. */
export async function memoryOf({ probe }: Target): Promise<number | undefined> {
  if (probe === undefined) return undefined;
  let text = '';
  for await (const chunk of connect(probe)) text += String(chunk);
  return Number(text);
}
