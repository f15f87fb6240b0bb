import { Module } from '@nestjs/common';
import { DlxBrokerModule } from 'dlx-broker';
import { broker, isCluster } from './broker.js';
import { DeadOrders } from './dead-orders.js';
import { OrdersController } from './orders.controller.js';
import { queuesWithoutHandlers, shop } from './topology.js';
import { Warehouse } from './warehouse.js';

@Module({
  // `events` is the topic exchange that `emit` publishes to and handlers bind their queues to.
  imports: [
    DlxBrokerModule.forRoot({ broker, clusterTopology: isCluster, events: shop, topology: queuesWithoutHandlers }),
  ],
  controllers: [OrdersController],
  providers: [Warehouse, DeadOrders],
})
export class AppModule {}
