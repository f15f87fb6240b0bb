export * from './from-clients.js';
export * from './from-servers.js';
