/** Programs of other languages come with the system: CI has them, a developer may not. @throws in CI */
export async function present(name: string, check: () => Promise<unknown> | boolean): Promise<boolean> {
  const found = await Promise.resolve()
    .then(check)
    .then((answer) => answer !== false)
    .catch(() => false);
  if (found) return true;
  if (process.env['CI'] !== undefined) throw new Error(`${name} is missing`);
  console.warn(`SKIPPED: ${name} is missing`);
  return false;
}
