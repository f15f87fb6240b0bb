import { Logger } from '@nestjs/common';

type Line = [message: unknown, ...more: unknown[]];

/**
 * A logger that never throws. The logger of an application may, where its disk is full for instance, and a message has to be
 * settled all the same: what cannot be logged is left out.
 */
export class SafeLogger extends Logger {
  override log(...line: Line): void {
    safely(() => super.log(...line));
  }

  override warn(...line: Line): void {
    safely(() => super.warn(...line));
  }

  override error(...line: Line): void {
    safely(() => super.error(...line));
  }
}

function safely(log: () => void): void {
  try {
    log();
  } catch {
    // There is no other place to say it.
  }
}
