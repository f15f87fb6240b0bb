/** Waits for work, but no longer than a time. It rejects if the work rejects in time. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
