import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { type MemoryUse, processMemory } from '../../platform/alarms/index.js';
import type { Broker } from '../../engine/broker/index.js';
import type { Series } from './series.js';

/** Measures of this process and its machine. */
export class Machine {
  /**
   * @param directory the disk with this directory is measured
   * @param memory the measure that raises the memory alarm
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

  /** The number of connections, channels and queues: in Erlang each is a process. */
  get parts(): number {
    let count = 0;
    for (const { connections, queues } of this.broker.virtualHosts.values()) {
      count += connections.size + queues.size;
      for (const { channels } of connections) count += channels.size;
    }
    return count;
  }

  /** The free bytes of the disk; 0 if the system does not report them. */
  get diskFree(): number {
    return orNothing(() => {
      const { bavail, bsize } = statfsSync(this.directory);
      return bavail * bsize;
    });
  }

  /** The number of open files and sockets; 0 if the system does not report it. */
  get files(): number {
    return orNothing(() => readdirSync('/proc/self/fd').length);
  }

  /** The most open files and sockets; 0 if the system does not report it. */
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

/** The measures of the machine that have a rate. Reads and writes are those of the file system, in blocks. */
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
