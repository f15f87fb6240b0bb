export { type Alarm, Alarms, memoryAlarm } from './alarms.js';
export { type MemoryLimit, type MemoryUse, processMemory } from './memory.js';
