export const address: string;
export function addressOf(path: string): string;
