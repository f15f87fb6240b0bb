/** The words of one command as a shell reads them: quoted, escaped, without its variables. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/g)) {
    words.push(
      word.replace(
        /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
        (_, a?: string, b?: string, c?: string) => a ?? b ?? c ?? '',
      ),
    );
  }
  while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift();
  return words[0] === 'npx' ? words.slice(1) : words;
}

/** The commands in a text of the shell, each as its words. Of a console, only lines that begin with `$` are commands. */
export function commandsOf(text: string, isConsole: boolean): string[][] {
  const lines = text.replace(/\\\n\s*/g, ' ').split('\n');
  const typed = isConsole ? lines.flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : [])) : lines;
  return typed
    .map((line) => line.replace(/(^|\s)#.*$/, ''))
    .flatMap((line) => line.split(/\s(?:&&|\|\||\||&|;|>)(?:\s|$)/))
    .map(wordsOf)
    .filter((words) => words.length > 0);
}
