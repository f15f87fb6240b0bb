const space = /[ \t\n\r]*/y;
const comma = /[ \t\n\r]*,/y;
const colon = /[ \t\n\r]*:/y;
const brace = /[ \t\n\r]*\{/y;
const closingBrace = /[ \t\n\r]*\}/y;
const bracket = /[ \t\n\r]*\[/y;
const closingBracket = /[ \t\n\r]*\]/y;
const quote = /[ \t\n\r]*"/y;
// All characters but control characters, the quote and the backslash. A pattern for a whole string fails for long ones.
const characters = /[ !#-[\]-\uffff]+/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const closingQuote = /"/y;
const scalar = /[ \t\n\r]*(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/y;

/**
 * Where a text stops being JSON: the line and the column of the first value, comma or bracket that does not fit. The errors of
 * `JSON.parse` have no place in all versions of Node, and quote the text, which may hold a password.
 * @param text that `JSON.parse` refuses. Its nesting is limited by the caller
 */
export function jsonFault(text: string): string {
  let at = 0;
  const took = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const string = (): boolean => {
    if (!took(quote)) return false;
    const start = at - 1;
    while (took(characters) || took(escape));
    if (took(closingQuote)) return true;
    at = start;
    return false;
  };
  const members = (close: RegExp, member: () => boolean): boolean => {
    if (took(close)) return true;
    do if (!member()) return false;
    while (took(comma));
    return took(close);
  };
  const value = (): boolean => {
    if (string() || took(scalar)) return true;
    if (took(brace)) return members(closingBrace, () => string() && took(colon) && value());
    return took(bracket) && members(closingBracket, value);
  };
  value();
  took(space);
  const lines = text.slice(0, at).split('\n');
  const end = at === text.length ? ', where the text ends too early' : '';
  return `line ${lines.length}, column ${lines.at(-1)!.length + 1}${end}`;
}
