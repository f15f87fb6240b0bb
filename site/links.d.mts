export function onSite(page: string, href: string): string;
export function turnLinks(markdown: unknown): void;
export function slugOf(heading: string): string;
