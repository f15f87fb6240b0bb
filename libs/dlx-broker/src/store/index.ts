export { damageLines } from './damage-lines.js';
export { type Data, type DataOptions, editData, inspectData, openData } from './open-data.js';
export { StoreError, type StoreErrorCode } from './store-error.js';
export type { DiskJournal } from './log/disk-journal.js';
export type { Damage, DamagedPlace, DiskJournalOptions, DiskJournalStats, Durability } from './log/options.js';
