/** The cost of some work. */
export interface Cost {
  /** Microseconds of processor time of this process for a message. */
  readonly cpu: number;
  /** Messages a second. */
  readonly rate: number;
}

/** Measures work with this number of messages. */
export async function cost(count: number, work: () => Promise<void>): Promise<Cost> {
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / count, rate: (count / (performance.now() - begun)) * 1_000 };
}

/** Costs by kind of work. Each is measured several times. */
export class Costs {
  readonly #found = new Map<string, Cost[]>();

  note(name: string, one: Cost): void {
    this.#found.set(name, [...(this.#found.get(name) ?? []), one]);
  }

  /** Prints the fastest and the median. */
  print(): void {
    for (const [name, costs] of [...this.#found].sort()) {
      const cpu = costs.map((one) => one.cpu);
      const rates = costs.map((one) => one.rate);
      const figures = `${Math.min(...cpu)
        .toFixed(1)
        .padStart(6)} / ${median(cpu).toFixed(1).padStart(6)}`;
      const speed = `${Math.round(Math.max(...rates))} / ${Math.round(median(rates))}`;
      console.log(`${name.padEnd(34)} ${figures} µs of processor time a message, ${speed} messages/s (best / median)`);
    }
  }
}

const median = (values: number[]): number => values.sort((one, other) => one - other)[values.length >> 1] as number;
