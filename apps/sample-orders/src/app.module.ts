import { Module } from '@nestjs/common';
import { binding, DlxBrokerModule } from 'dlx-broker';
import { broker, isCluster } from './broker.js';
import { DeadOrders } from './dead-orders.js';
import { deadLetters } from './order.js';
import { Packer } from './packer.js';
import { Shop } from './shop.js';
import { Warehouse } from './warehouse.js';

/** Handlers declare their own queues. The queue of dead orders has no handler: it is declared here. */
const topology = { queues: ['orders.dead'], bindings: [binding(deadLetters, 'orders.dead', '#')] };

@Module({
  imports: [DlxBrokerModule.forRoot({ broker, clusterTopology: isCluster, topology })],
  controllers: [Shop, Packer],
  providers: [DeadOrders, Warehouse],
})
export class AppModule {}
