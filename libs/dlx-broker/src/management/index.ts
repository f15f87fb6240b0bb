export { type Api, type ApiOptions, createApi } from './app.js';
export type { ManagementHost, OpenPort } from './host.js';
export { HttpListener, type HttpOptions, listenHttp } from './http-listener.js';
export { loadDefinitions } from './definitions/load.js';
export { Problem } from './reply.js';
