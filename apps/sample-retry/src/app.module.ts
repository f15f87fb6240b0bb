import { Module } from '@nestjs/common';
import { DlxBrokerModule } from 'dlx-broker';
import { Bank } from './bank.js';
import { Operator } from './operator.js';
import { Payments } from './payments.js';
import { Timeline } from './timeline.js';

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Bank, Payments, Operator, Timeline] })
export class AppModule {}
