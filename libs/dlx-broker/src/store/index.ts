export { damageLines, type Data, type DataOptions, editData, inspectData, openData } from './open-data.js';
export { StoreError, type StoreErrorCode } from './log/faults.js';
export type { DiskJournal } from './log/disk-journal.js';
export type { Damage, DamagedPlace, DiskJournalOptions, DiskJournalStats, Durability } from './log/options.js';
