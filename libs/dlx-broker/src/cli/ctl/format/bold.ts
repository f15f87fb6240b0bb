/** A text that a terminal shows in bold. */
export const bold = (text: string): string => `\u001b[1m${text}\u001b[0m`;
