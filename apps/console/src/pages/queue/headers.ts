/** What is wrong with the text of a header table; undefined if it is empty or a JSON object. */
export function headersProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch {
    return 'The headers are not valid JSON.';
  }
  return 'The headers have to be a JSON object, such as {"tenant": 7}.';
}
