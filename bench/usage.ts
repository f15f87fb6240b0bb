/** An argument of the command line that is wrong; its message says which one, and what it takes. */
export class UsageError extends Error {}

/** A whole number of an option. @throws UsageError for anything else, and for a number below `least` */
export function wholeNumber(option: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`${option} takes a whole number from ${least} on, not '${text}'`);
}

/** A number of an option, above zero. @throws UsageError for anything else */
export function positiveNumber(option: string, text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value;
  throw new UsageError(`${option} takes a number above zero, not '${text}'`);
}

/**
 * Runs the main function of a command. A wrong argument ends it with status 2 and one line that leads to `--help`.
 * @param command as users type it
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
