import { Buffer } from 'buffer/';

// The engine keeps its bytes in Node's Buffer.
Object.assign(globalThis, { Buffer });
