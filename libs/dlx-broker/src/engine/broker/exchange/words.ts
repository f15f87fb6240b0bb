const noWords: readonly string[] = [];

/** The words of a routing key or pattern. The empty key has no words, not an empty one (rule P7). */
export const wordsOf = (key: string): readonly string[] => (key === '' ? noWords : key.split('.'));
