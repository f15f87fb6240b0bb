export { MemoryJournal } from './memory-journal.js';
