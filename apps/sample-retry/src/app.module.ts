import { Module } from '@nestjs/common';
import { DlxBrokerModule } from 'dlx-broker';
import { Bank } from './bank.js';
import { broker } from './broker.js';
import { Operator } from './operator.js';
import { Payments } from './payments.js';
import { Timeline } from './timeline.js';

@Module({ imports: [DlxBrokerModule.forRoot({ broker })], providers: [Bank, Payments, Operator, Timeline] })
export class AppModule {}
