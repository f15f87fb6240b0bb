import * as dlx from 'dlx-broker';

console.log(`dlx-broker offers ${Object.keys(dlx).length} names.`);
