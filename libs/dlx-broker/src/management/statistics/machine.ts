import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { type MemoryUse, processMemory } from '../../alarms/index.js';
import type { Broker } from '../../broker/index.js';
import type { Series } from './series.js';

/** The process and the machine it runs on, as far as Node tells. */
export class Machine {
  /**
   * @param directory whose disk is looked at
   * @param memory the measure by which publishers have to wait
   */
  constructor(
    readonly broker: Broker,
    readonly directory = process.cwd(),
    readonly memory: () => MemoryUse = processMemory(),
  ) {}

  get connections(): number {
    let count = 0;
    for (const { connections } of this.broker.virtualHosts.values()) count += connections.size;
    return count;
  }

  /** What would be processes in Erlang: connections, channels and queues. */
  get parts(): number {
    let count = 0;
    for (const { connections, queues } of this.broker.virtualHosts.values()) {
      count += connections.size + queues.size;
      for (const { channels } of connections) count += channels.size;
    }
    return count;
  }

  /** Bytes; 0 where the system does not tell. */
  get diskFree(): number {
    return orNothing(() => {
      const { bavail, bsize } = statfsSync(this.directory);
      return bavail * bsize;
    });
  }

  /** Open files and sockets; 0 where the system does not tell. */
  get files(): number {
    return orNothing(() => readdirSync('/proc/self/fd').length);
  }

  /** How many there may be; 0 where the system does not tell. */
  get filesLimit(): number {
    return orNothing(() => Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0));
  }
}

function orNothing(read: () => number): number {
  try {
    return read();
  } catch {
    return 0;
  }
}

/** What of it has a rate. Reads and writes are those of the file system, in blocks. */
export const machineSeries: Series<Machine> = {
  names: [
    'mem_used',
    'fd_used',
    'sockets_used',
    'proc_used',
    'disk_free',
    'context_switches',
    'io_read_count',
    'io_write_count',
  ],
  read: (machine) => {
    const { voluntaryContextSwitches, involuntaryContextSwitches, fsRead, fsWrite } = process.resourceUsage();
    return [
      machine.memory().used,
      machine.files,
      machine.connections,
      machine.parts,
      machine.diskFree,
      voluntaryContextSwitches + involuntaryContextSwitches,
      fsRead,
      fsWrite,
    ];
  },
};
