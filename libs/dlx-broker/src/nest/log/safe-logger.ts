import { Logger } from '@nestjs/common';

type Line = [message: unknown, ...more: unknown[]];

/**
 * A logger that never throws. The logger of an application may throw, for example when its disk is full, and the message has to be
 * settled even then. Such a log line is lost.
 */
export class SafeLogger extends Logger {
  override log(...line: Line): void {
    safely(() => super.log(...line));
  }

  override warn(...line: Line): void {
    safely(() => super.warn(...line));
  }

  override debug(...line: Line): void {
    safely(() => super.debug(...line));
  }

  override verbose(...line: Line): void {
    safely(() => super.verbose(...line));
  }

  override error(...line: Line): void {
    safely(() => super.error(...line));
  }
}

function safely(log: () => void): void {
  try {
    log();
  } catch {
    // The error cannot be logged.
  }
}
