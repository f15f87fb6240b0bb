export { type Alarm, Alarms, memoryAlarm } from './alarms.js';
export { MemoryNotice } from './alarms.js';
export { bytesInUse, type MemoryLimit, type MemoryUse, processMemory } from './memory.js';
