/** An argument of the command line that is wrong; its message says which one, and what it takes. */
export class UsageError extends Error {}

/** A whole number of an option. @throws UsageError for anything else, and for a number below `min` */
export function wholeNumber(option: string, text: string, min: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= min) return value;
  throw new UsageError(`${option} takes a whole number from ${min} on, not '${text}'`);
}

/** A number of an option, above zero. @throws UsageError for anything else */
export function positiveNumber(option: string, text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value;
  throw new UsageError(`${option} takes a number above zero, not '${text}'`);
}

/** The options of programs that measure workloads by name. @param runs the default of `--runs` */
export const measuringOptions = (runs: string) => ({
  only: { type: 'string' as const, multiple: true as const, default: [] as string[] },
  runs: { type: 'string' as const, default: runs },
  help: { type: 'boolean' as const, default: false },
});

/** Prints the help of a program that has only positional arguments, and ends it, if `--help` is among them. */
export function endWithHelp(help: string): void {
  if (!process.argv.includes('--help')) return;
  console.log(help);
  process.exit(0);
}

/**
 * Runs the main function of a command. A wrong argument ends it with status 2 and one line that leads to `--help`.
 * @param name the command as users type it
 */
export async function command(name: string, main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const isOfArguments =
      error instanceof UsageError || String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS');
    if (!isOfArguments) throw error;
    console.error(`${name}: ${(error as Error).message}\n'${name} -- --help' lists the options.`);
    process.exitCode = 2;
  }
}
