/** A text of JSON without what a reader added: strings as they are, and the white space between them. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON without white space. Every token stays as it is: numbers keep their digits, and objects all their keys. */
export const compactJson = (json: string): string => (json.match(tokens) ?? []).join('');

/** JSON in lines, indented. Every token stays as it is. @param json valid JSON */
export function prettyJson(json: string): string {
  let depth = 0;
  let text = '';
  let before = '';
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (const token of json.match(tokens) ?? []) {
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    if (closes ? before !== '{' && before !== '[' : before === '{' || before === '[' || before === ',') text += line();
    text += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth++;
    before = token;
  }
  return text;
}
