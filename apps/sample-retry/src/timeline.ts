import { Injectable, Optional } from '@nestjs/common';

/** A clock and an output. Tests use their own. */
export abstract class Stage {
  abstract now(): number;
  abstract write(line: string): void;
}

/** One line for everything that happens. */
@Injectable()
export class Timeline {
  #start = 0;

  constructor(@Optional() private readonly stage: Stage = { now: Date.now, write: console.log }) {}

  begin(): void {
    this.#start = this.stage.now();
    this.stage.write(' elapsed  message  attempt  what happened');
  }

  say(message: string, attempt: string | number, what: string): void {
    const elapsed = ((this.stage.now() - this.#start) / 1_000).toFixed(2);
    this.stage.write(`${elapsed.padStart(6)} s  ${message.padEnd(7)}  ${String(attempt).padEnd(7)}  ${what}`);
  }
}
