import { Injectable, Optional } from '@nestjs/common';

/** The clock and the output of a timeline. Tests use their own. */
export abstract class TimelineOutput {
  abstract now(): number;
  abstract write(line: string): void;
}

/** One line for everything that happens. */
@Injectable()
export class Timeline {
  #start = 0;

  constructor(@Optional() private readonly output: TimelineOutput = { now: Date.now, write: console.log }) {}

  begin(): void {
    this.#start = this.output.now();
    this.output.write(' elapsed  message  attempt  what happened');
  }

  say(message: string, attempt: string | number, what: string): void {
    const elapsed = ((this.output.now() - this.#start) / 1_000).toFixed(2);
    this.output.write(`${elapsed.padStart(6)} s  ${message.padEnd(7)}  ${String(attempt).padEnd(7)}  ${what}`);
  }
}
