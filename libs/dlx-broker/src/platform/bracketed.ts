/** A host as URLs and errors name it: an IPv6 address is in brackets. */
export const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
