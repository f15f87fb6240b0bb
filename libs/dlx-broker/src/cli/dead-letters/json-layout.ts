/** A mark, a number, a literal, or the quote with which a string begins. */
const beginnings = /[{}[\],:"]|[^\s"{}[\],:]+/g;

/** The parts of a string of JSON without the white space between them. A pattern for whole strings fails for long ones. */
function tokensOf(json: string): readonly string[] {
  const found: string[] = [];
  const pattern = new RegExp(beginnings);
  for (let match = pattern.exec(json); match !== null; match = pattern.exec(json)) {
    if (match[0] === '"') pattern.lastIndex = afterString(json, match.index);
    found.push(json.slice(match.index, pattern.lastIndex));
  }
  return found;
}

/** The position after a string. Its closing quote has an even number of backslashes in front. */
function afterString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return json.length;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON without white space. Every token stays as it is: numbers keep their digits, and objects all their keys. */
export const compactJson = (json: string): string => tokensOf(json).join('');

/** JSON in lines, indented. Every token stays as it is. @param json valid JSON */
export function prettyJson(json: string): string {
  let depth = 0;
  let text = '';
  let before = '';
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (const token of tokensOf(json)) {
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    if (closes ? before !== '{' && before !== '[' : before === '{' || before === '[' || before === ',') text += line();
    text += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth++;
    before = token;
  }
  return text;
}
