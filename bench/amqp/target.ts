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
  /** The port at which a dlx-broker reports its memory, see memory-probe.ts. */
  readonly probe?: string;
  /** The port speaks TLS. */
  readonly tls?: boolean;
  /** The folder, if the target is a disk and no server. */
  readonly folder?: string;
}

/** The URL for client libraries. */
export const urlOf = ({ user, password, host, port, vhost }: Target): string =>
  `amqp://${user}:${password}@${host}:${port}/${encodeURIComponent(vhost)}?heartbeat=0`;

/** Microseconds of a clock tick in /proc. */
const tick = 10_000;

/** Microseconds of processor time of a process until now: user and system, all threads. */
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

/** Bytes in use after a garbage collection; undefined when the server does not report them. */
export async function memoryOf({ probe }: Target): Promise<number | undefined> {
  if (probe === undefined) return undefined;
  let text = '';
  for await (const chunk of connect(probe)) text += String(chunk);
  return Number(text);
}
